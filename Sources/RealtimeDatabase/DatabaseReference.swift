internal import RealtimeProtocol
package import RealtimeTree

// Safety: adds no stored property to `DatabaseQuery`.
/// A location in a database: what can be written, and the start of every query.
public final class DatabaseReference: DatabaseQuery, @unchecked Sendable {
  package init(repo: Repo, path: Path) {
    super.init(repo: repo, path: path, query: .all)
  }

  /// The last part of the path, or nil for the root.
  public var key: String? { path.last?.text }

  /// The location above, or nil for the root.
  public var parent: DatabaseReference? {
    path.parent.map { DatabaseReference(repo: repo, path: $0) }
  }

  /// The root of the database.
  public var root: DatabaseReference { DatabaseReference(repo: repo, path: .root) }

  /// The URL of the location.
  public var url: String { repo.url(of: path) }

  /// The location at a path below, whose parts are separated by slashes.
  public func child(_ path: String) -> DatabaseReference {
    DatabaseReference(repo: repo, path: self.path.appending(Path(wire: path)))
  }

  package func child(of key: ChildKey) -> DatabaseReference {
    DatabaseReference(repo: repo, path: path.appending(key))
  }

  /// A location below with a key that no one else has and that sorts by the time it was made.
  public func childByAutoId() -> DatabaseReference {
    child(of: ChildKey(repo.nextPushID()))
  }

  // MARK: Writing

  /// What a write calls when the server has answered.
  public typealias Completion = @Sendable ((any Error)?, DatabaseReference) -> Void

  /// Replaces the data, locally at once and at the server as soon as it can be reached.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - block: Called when the server has stored or refused it, on ``Database/callbackQueue``.
  public func setValue(_ value: Any?, withCompletionBlock block: Completion? = nil) {
    write(block) { () throws(DatabaseError) in .set(try NodeConversion.node(value)) }
  }

  /// Replaces the data and the priority.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - priority: Nil, a number or a string.
  ///   - block: Called when the server has stored or refused it, on ``Database/callbackQueue``.
  public func setValue(
    _ value: Any?,
    andPriority priority: Any?,
    withCompletionBlock block: Completion? = nil
  ) {
    write(block) { () throws(DatabaseError) in
      .set(
        try NodeConversion.node(value).withPriority(try NodeConversion.node(priority).leafValue)
      )
    }
  }

  /// Replaces the data and waits for the server.
  ///
  /// - Parameter value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  /// - Returns: This location.
  /// - Throws: ``DatabaseError`` when the server refuses it.
  @discardableResult
  public func setValue(_ value: Any?) async throws -> DatabaseReference {
    try await finished { setValue(value, withCompletionBlock: $0) }
    return self
  }

  /// Removes the data.
  public func removeValue(completionBlock block: Completion? = nil) {
    setValue(nil, withCompletionBlock: block)
  }

  /// Removes the data and waits for the server.
  ///
  /// - Returns: This location.
  /// - Throws: ``DatabaseError`` when the server refuses it.
  @discardableResult
  public func removeValue() async throws -> DatabaseReference {
    try await setValue(nil)
  }

  /// Replaces the data at several paths below, all at once or not at all.
  ///
  /// - Parameters:
  ///   - values: New data by relative path; `NSNull` removes.
  ///   - block: Called when the server has stored or refused it, on ``Database/callbackQueue``.
  public func updateChildValues(
    _ values: [AnyHashable: Any],
    withCompletionBlock block: Completion? = nil
  ) {
    write(block) { () throws(DatabaseError) in .merge(try Self.changes(values)) }
  }

  /// Replaces the data at several paths below and waits for the server.
  ///
  /// - Parameter values: New data by relative path; `NSNull` removes.
  /// - Returns: This location.
  /// - Throws: ``DatabaseError`` when the server refuses it.
  @discardableResult
  public func updateChildValues(_ values: [AnyHashable: Any]) async throws -> DatabaseReference {
    try await finished { updateChildValues(values, withCompletionBlock: $0) }
    return self
  }

  private static func changes(_ values: [AnyHashable: Any]) throws(DatabaseError) -> [Change] {
    var members: [JSONMember] = []
    for (key, value) in values {
      guard let path = key as? String else {
        throw DatabaseError(.invalidData, reason: "the paths of an update must be strings")
      }
      members.append(JSONMember(path, try NodeConversion.json(value)))
    }
    members.sort { CodeUnits.precedes($0.name, $1.name) }
    return try changes(json: .object(members))
  }

  static func changes(json: JSONValue) throws(DatabaseError) -> [Change] {
    do throws(NodeError) {
      return try Change.changes(json: json)
    } catch {
      throw DatabaseError(.invalidData, reason: error.description)
    }
  }

  static func node(_ json: JSONValue) throws(DatabaseError) -> Node {
    do throws(NodeError) {
      return try Node(json: json)
    } catch {
      throw DatabaseError(.invalidData, reason: error.description)
    }
  }

  /// Validates a write, and starts it or reports what is wrong with it.
  func write(
    _ block: Completion?,
    _ operation: () throws(DatabaseError) -> WriteOperation
  ) {
    do throws(DatabaseError) {
      let operation = try operation()
      try check(operation)
      repo.write(self, operation) { [self] error in block?(error, self) }
    } catch {
      let located = DatabaseError(error.code, path: path.description, reason: error.reason)
      repo.deliver { [self] in block?(located, self) }
    }
  }

  private func check(_ operation: WriteOperation) throws(DatabaseError) {
    let problem: String?
    switch operation {
    case .set(let node): problem = Validation.problem(with: node, at: path)
    case .merge(let changes):
      problem =
        changes.lazy.compactMap { [path] in
          Validation.problem(with: $0.node, at: path.appending($0.path))
        }.first
    }
    if path.first == ".info" {
      throw DatabaseError(.invalidData, reason: "/.info cannot be written")
    }
    if let problem { throw DatabaseError(.invalidData, reason: problem) }
  }

  /// Starts a write and waits for its completion.
  func finished(_ start: (@escaping Completion) -> Void) async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      start { error, _ in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  // MARK: Transactions

  /// Changes the data in the light of what they are, without losing what others do meanwhile.
  ///
  /// The block runs at once on the data known here (nil when none are known yet), and again whenever
  /// the server says that they had changed; so it must give the same answer each time, and do nothing
  /// else. It gives up after 25 tries.
  ///
  /// - Parameters:
  ///   - block: Changes the data it is given; runs on the database's own thread.
  ///   - completionBlock: Gets an error, whether the change was stored, and the data then there.
  ///   - localEvents: Whether observers here see the change before the server has stored it.
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult,
    andCompletionBlock completionBlock: (
      @Sendable ((any Error)?, Bool, DataSnapshot?) -> Void
    )? = nil,
    withLocalEvents localEvents: Bool = true
  ) {
    repo.transaction(self, localEvents: localEvents, block) { error, committed, snapshot in
      completionBlock?(error, committed, snapshot)
    }
  }

  /// Changes the data in the light of what they are, and waits for the server.
  ///
  /// - Parameter block: Changes the data it is given; may run several times, on the database's thread.
  /// - Returns: Whether the change was stored, and the data then there.
  /// - Throws: ``DatabaseError`` when the server refuses it or it was tried too often.
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult
  ) async throws -> (Bool, DataSnapshot) {
    try await withCheckedThrowingContinuation { continuation in
      repo.transaction(self, localEvents: true, block) { error, committed, snapshot in
        if let error {
          continuation.resume(throwing: error)
        } else {
          continuation.resume(returning: (committed, snapshot))
        }
      }
    }
  }

  // MARK: On disconnect

  /// Has the server replace the data when this connection ends, however it ends.
  public func onDisconnectSetValue(_ value: Any?, withCompletionBlock block: Completion? = nil) {
    onDisconnect(block) { () throws(DatabaseError) in .set(try NodeConversion.node(value)) }
  }

  /// Has the server remove the data when this connection ends.
  public func onDisconnectRemoveValue(completionBlock block: Completion? = nil) {
    onDisconnectSetValue(nil, withCompletionBlock: block)
  }

  /// Has the server replace the data at several paths below when this connection ends.
  public func onDisconnectUpdateChildValues(
    _ values: [AnyHashable: Any],
    withCompletionBlock block: Completion? = nil
  ) {
    onDisconnect(block) { () throws(DatabaseError) in .merge(try Self.changes(values)) }
  }

  /// Withdraws what was to happen here and below when this connection ends.
  public func cancelDisconnectOperations(withCompletionBlock block: Completion? = nil) {
    repo.cancelOnDisconnect(self) { [self] error in block?(error, self) }
  }

  private func onDisconnect(
    _ block: Completion?,
    _ operation: () throws(DatabaseError) -> WriteOperation
  ) {
    do throws(DatabaseError) {
      let operation = try operation()
      try check(operation)
      repo.onDisconnect(self, operation) { [self] error in block?(error, self) }
    } catch {
      let located = DatabaseError(error.code, path: path.description, reason: error.reason)
      repo.deliver { [self] in block?(located, self) }
    }
  }
}

extension DatabaseReference: CustomStringConvertible {
  /// The URL of the location.
  public var description: String { url }
}
