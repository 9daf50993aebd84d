package import RealtimeCore

// Safety: adds no stored property to `DatabaseQuery`.
/// A location in a database: what can be written, and the start of every query.
public final class DatabaseReference: DatabaseQuery, @unchecked Sendable {
  /// What a write calls when the server has answered.
  public typealias Completion = ((any Error)?, DatabaseReference) -> Void

  package init(database: Database, path: Path) {
    super.init(database: database, path: path, query: .all)
  }

  /// The last part of the path, or nil for the root.
  public var key: String? { path.last?.text }

  /// The location above, or nil for the root.
  public var parent: DatabaseReference? {
    path.parent.map { DatabaseReference(database: database, path: $0) }
  }

  /// The root of the database.
  public var root: DatabaseReference { database.reference() }

  /// The URL of the location.
  public var url: String { repo.url(of: path) }

  /// The location at a path below, whose parts are separated by slashes.
  ///
  /// It is a programmer error to pass a path that no database can have (`.`, `#`, `$`, `[`, `]` and
  /// control characters are not allowed, nor more than 768 bytes): it traps.
  public func child(_ pathString: String) -> DatabaseReference {
    child(of: Path(wire: pathString))
  }

  /// A location below with a key that no one else has and that sorts by the time it was made.
  public func childByAutoId() -> DatabaseReference {
    child(of: ChildKey(repo.nextPushID()))
  }

  /// Cuts the connections of all databases that were found by name.
  public static func goOffline() {
    for database in Database.opened { database.goOffline() }
  }

  /// Connects all databases again that were found by name.
  public static func goOnline() {
    for database in Database.opened { database.goOnline() }
  }

  package func child(of key: ChildKey) -> DatabaseReference {
    DatabaseReference(database: database, path: path.appending(key))
  }

  func child(of relative: Path) -> DatabaseReference {
    let whole = path.appending(relative)
    // What the client says of itself is found below a key that no data can have.
    let named = whole.first == ".info" ? whole.rest : whole
    if let problem = Validation.problem(withPath: named) {
      preconditionFailure("\(whole) is not the path of a location: \(problem)")
    }
    return DatabaseReference(database: database, path: whole)
  }
}

extension DatabaseReference: CustomStringConvertible, DescribedByMethod {
  /// The URL of the location.
  public var description: String { url }
}

/// What the original describes by a method, which a property of this name keeps a class from having.
public protocol DescribedByMethod: CustomStringConvertible {}

extension DescribedByMethod {
  /// The same as the property of this name, in the form of the original.
  public func description() -> String { description }
}

/// Writing, with or without a block for the answer.
///
/// A write is seen by observers here at once, and sent as soon as the server can be reached. Data that
/// cannot be stored are not written: the completion gets `invalid_data`.
extension DatabaseReference {
  /// Replaces the data, locally at once and at the server as soon as it can be reached.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - block: Called when the server has stored or rejected it, on ``Database/callbackQueue``.
  public func setValue(_ value: Any?, withCompletionBlock block: Completion? = nil) {
    write(block) { () throws(DatabaseError) in .set(try NodeConversion.node(value)) }
  }

  /// Replaces the data and the priority.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - priority: Nil, a number or a string.
  ///   - block: Called when the server has stored or rejected it, on ``Database/callbackQueue``.
  public func setValue(
    _ value: Any?,
    andPriority priority: Any?,
    withCompletionBlock block: Completion? = nil
  ) {
    write(block) { () throws(DatabaseError) in
      .set(try NodeConversion.node(value, priority: priority))
    }
  }

  /// Removes the data.
  public func removeValue(completionBlock block: Completion? = nil) {
    setValue(nil, withCompletionBlock: block)
  }

  /// Replaces the priority of data that are there.
  ///
  /// - Parameters:
  ///   - priority: Nil, a number or a string.
  ///   - block: Called when the server has stored or rejected it, on ``Database/callbackQueue``.
  public func setPriority(_ priority: Any?, withCompletionBlock block: Completion? = nil) {
    // The priority is a location of its own; the answer is still about this one.
    let own = DatabaseReference(database: database, path: path.appending(.priority))
    let located: Completion = { [self] error, _ in block?(error, self) }
    own.write(located) { () throws(DatabaseError) in
      .set(try NodeConversion.priority(priority))
    }
  }

  /// Replaces the data at several paths below, all at once or not at all.
  ///
  /// - Parameters:
  ///   - values: New data by relative path; `NSNull` removes.
  ///   - block: Called when the server has stored or rejected it, on ``Database/callbackQueue``.
  public func updateChildValues(
    _ values: [AnyHashable: Any],
    withCompletionBlock block: Completion? = nil
  ) {
    write(block) { () throws(DatabaseError) in .merge(try Self.changes(values)) }
  }

  static func changes(_ values: [AnyHashable: Any]) throws(DatabaseError) -> [Change] {
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
    for change in json.members ?? [] { try change.value.check() }
    do throws(NodeError) {
      return try Change.changes(json: json)
    } catch {
      throw DatabaseError(.invalidData, reason: error.description)
    }
  }

  /// Validates a write, and starts it or reports what is wrong with it.
  func write(
    _ block: Completion?,
    operation: () throws(DatabaseError) -> WriteOperation
  ) {
    validated(operation, block: block) { operation, callback in
      repo.write(operation, at: self) { [self] error in callback.call?(error, self) }
    }
  }

  /// Hands a legal operation on, or reports what is wrong with it to the completion.
  private func validated(
    _ operation: () throws(DatabaseError) -> WriteOperation,
    block: Completion?,
    start: (WriteOperation, Callback<Completion?>) -> Void
  ) {
    let callback = Callback(block)
    do throws(DatabaseError) {
      let operation = try operation()
      try check(operation)
      start(operation, callback)
    } catch {
      let located = DatabaseError(error.code, path: path.description, reason: error.reason)
      repo.deliver { [self] in callback.call?(located, self) }
    }
  }

  private func check(_ operation: WriteOperation) throws(DatabaseError) {
    let problem: String?
    switch operation {
    case .set(let node): problem = Validation.problem(withWritten: node, at: path)
    case .merge(let changes):
      problem =
        changes.lazy.compactMap { [path] in
          Validation.problem(withWritten: $0.node, at: path.appending($0.path))
        }.first
    }
    if path.first == ".info" {
      throw DatabaseError(.invalidData, reason: "/.info cannot be written")
    }
    if let problem { throw DatabaseError(.invalidData, reason: problem) }
  }
}

/// Writes that the server makes when this connection ends, however it ends.
extension DatabaseReference {
  /// Makes the server replace the data when this connection ends, however it ends.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - block: Called when the server knows of it, on ``Database/callbackQueue``.
  public func onDisconnectSetValue(_ value: Any?, withCompletionBlock block: Completion? = nil) {
    onDisconnect(block) { () throws(DatabaseError) in .set(try NodeConversion.node(value)) }
  }

  /// Makes the server replace the data and the priority when this connection ends.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - priority: Nil, a number or a string.
  ///   - block: Called when the server knows of it, on ``Database/callbackQueue``.
  public func onDisconnectSetValue(
    _ value: Any?,
    andPriority priority: Any?,
    withCompletionBlock block: Completion? = nil
  ) {
    onDisconnect(block) { () throws(DatabaseError) in
      .set(try NodeConversion.node(value, priority: priority))
    }
  }

  /// Makes the server remove the data when this connection ends.
  public func onDisconnectRemoveValue(completionBlock block: Completion? = nil) {
    onDisconnectSetValue(nil, withCompletionBlock: block)
  }

  /// Makes the server replace the data at several paths below when this connection ends.
  ///
  /// - Parameters:
  ///   - values: New data by relative path; `NSNull` removes.
  ///   - block: Called when the server knows of it, on ``Database/callbackQueue``.
  public func onDisconnectUpdateChildValues(
    _ values: [AnyHashable: Any],
    withCompletionBlock block: Completion? = nil
  ) {
    onDisconnect(block) { () throws(DatabaseError) in .merge(try Self.changes(values)) }
  }

  /// Withdraws what was to happen here and below when this connection ends.
  public func cancelDisconnectOperations(completionBlock block: Completion? = nil) {
    let callback = Callback(block)
    repo.cancelOnDisconnect(self) { [self] error in callback.call?(error, self) }
  }

  private func onDisconnect(
    _ block: Completion?,
    operation: () throws(DatabaseError) -> WriteOperation
  ) {
    validated(operation, block: block) { operation, callback in
      repo.onDisconnect(operation, at: self) { [self] error in callback.call?(error, self) }
    }
  }
}

/// Changing data in the light of what they are.
extension DatabaseReference {
  /// Changes the data in the light of what they are, without losing what others do meanwhile.
  ///
  /// The block runs at once on the data known here (none when none are known yet), and again whenever
  /// the server says that they had changed; so it must give the same answer each time, and do nothing
  /// else. It gives up after ``DatabaseOptions/transactionTries``.
  ///
  /// The block runs on a thread of the database, as in the original, and not on the callback queue: what
  /// it needs of an actor, the main one included, is to be read before.
  ///
  /// - Parameters:
  ///   - block: Changes the data it is given; runs on the database's own thread.
  ///   - completionBlock: Gets an error, whether the change was stored, and the data then there; runs
  ///     on ``Database/callbackQueue``.
  ///   - localEvents: Whether observers here see the change before the server has stored it.
  @preconcurrency
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult,
    andCompletionBlock completionBlock: (((any Error)?, Bool, DataSnapshot?) -> Void)? = nil,
    withLocalEvents localEvents: Bool = true
  ) {
    let callback = Callback(completionBlock)
    repo.transaction(at: self, localEvents: localEvents, block: block) {
      error,
      committed,
      snapshot in
      callback.call?(error, committed, snapshot)
    }
  }
}
