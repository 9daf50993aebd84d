package import RealtimeCore
internal import RealtimeTransport

// Safety: adds no stored property to `DatabaseQuery`.
/// A location in a database, for writing and as the start of every query.
public final class DatabaseReference: DatabaseQuery, @unchecked Sendable {
  /// Called with the server's answer to a write.
  public typealias Completion = ((any Error)?, DatabaseReference) -> Void

  init(database: Database, path: Path) {
    super.init(database: database, path: path, query: .all)
  }

  /// The last key of the path, or nil for the root.
  public var key: String? { path.last?.text }

  /// The parent location, or nil for the root.
  public var parent: DatabaseReference? {
    path.parent.map { DatabaseReference(database: database, path: $0) }
  }

  /// The root of the database.
  public var root: DatabaseReference { database.reference() }

  /// The URL of the location.
  public var url: String { repo.target.url(at: path.keys.map(\.text)) }

  /// The URL of the location.
  public override var description: String { url }

  /// The location at a relative path; slashes separate its keys.
  ///
  /// Passing an empty path, or one that no database can have, is a programmer error and traps. A path
  /// must not be longer than 768 bytes, nor contain `.`, `#`, `$`, `[`, `]` or control characters. For
  /// text from outside the program, use ``child(validating:)`` or ``Database/escapedKey(_:)``.
  public func child(_ pathString: String) -> DatabaseReference {
    // With an empty identifier, `users.child(id).removeValue()` would remove all users.
    CallerContract.require(
      !pathString.isEmpty,
      "a path cannot be empty; for text from outside, use child(validating:)"
    )
    return child(of: Path(wire: pathString))
  }

  /// The location at a relative path that text from outside the program is part of.
  ///
  /// Unlike ``child(_:)``, it accepts no empty keys.
  ///
  /// - Parameter path: The path; slashes separate its keys.
  /// - Returns: The location.
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what is wrong with the path.
  public func child(validating path: String) throws(DatabaseError) -> DatabaseReference {
    try child(validating: try Path(validating: path))
  }

  /// A child location with a new unique key; such keys sort by the time of their creation.
  public func childByAutoId() -> DatabaseReference {
    child(of: ChildKey(repo.nextPushID()))
  }

  /// Disconnects all databases that were looked up by app or URL.
  public static func goOffline() {
    for database in Database.opened { database.goOffline() }
  }

  /// Reconnects all databases that were looked up by app or URL.
  public static func goOnline() {
    for database in Database.opened { database.goOnline() }
  }

  package func child(of key: ChildKey) -> DatabaseReference {
    DatabaseReference(database: database, path: path.appending(key))
  }

  func child(of relative: Path) -> DatabaseReference {
    do throws(DatabaseError) {
      return try child(validating: relative)
    } catch {
      CallerContract.fail("\(error.reason); for text from outside, use child(validating:)")
    }
  }

  func child(validating relative: Path) throws(DatabaseError) -> DatabaseReference {
    let whole = path.appending(relative)
    // The client reports on itself below `.info`, a key that no data can have.
    let named = whole.first == ".info" ? whole.rest : whole
    if let problem = Validation.problem(withPath: named) {
      throw .invalid("\(whole) is not a valid path: \(problem)")
    }
    return DatabaseReference(database: database, path: whole)
  }
}

extension DatabaseReference: DescribedByMethod {}

/// A class with the method `description()` of the original.
///
/// A class with a property `description` cannot declare a method of the same name; an extension of
/// a protocol can.
public protocol DescribedByMethod: CustomStringConvertible {}

extension DescribedByMethod {
  /// Returns the property `description`, as the original's method does.
  public func description() -> String { description }
}

/// Writing, with a completion block, which may be nil.
///
/// `FirebaseDatabase` adds the forms without a block. They are not part of this library, because a
/// script would call them instead of the `async` forms: at the top level of `main.swift`, Swift
/// prefers synchronous functions, even after `await`.
///
/// Local observers see a write at once; it is sent as soon as the server can be reached. Data that
/// cannot be stored is not written: the completion gets `invalid_data`.
extension DatabaseReference {
  /// Replaces the data, locally at once and on the server as soon as it can be reached.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - block: Called on ``Database/callbackQueue`` when the server has stored or rejected it.
  public func setValue(_ value: Any?, withCompletionBlock block: Completion?) {
    write(block) { () throws(DatabaseError) in .set(try NodeConversion.node(value)) }
  }

  /// Replaces the data and the priority.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - priority: Nil, a number or a string.
  ///   - block: Called on ``Database/callbackQueue`` when the server has stored or rejected it.
  public func setValue(
    _ value: Any?,
    andPriority priority: Any?,
    withCompletionBlock block: Completion?
  ) {
    write(block) { () throws(DatabaseError) in
      .set(try NodeConversion.node(value, priority: priority))
    }
  }

  /// Removes the data.
  public func removeValue(completionBlock block: Completion?) {
    setValue(nil, withCompletionBlock: block)
  }

  /// Replaces the priority of existing data.
  ///
  /// - Parameters:
  ///   - priority: Nil, a number or a string.
  ///   - block: Called on ``Database/callbackQueue`` when the server has stored or rejected it.
  public func setPriority(_ priority: Any?, withCompletionBlock block: Completion?) {
    // The write goes to the priority's own location; the completion gets this one.
    let own = DatabaseReference(database: database, path: path.appending(.priority))
    let located: Completion = { [self] error, _ in block?(error, self) }
    own.write(located) { () throws(DatabaseError) in
      .set(try NodeConversion.priority(priority))
    }
  }

  /// Replaces the data at several relative paths atomically.
  ///
  /// - Parameters:
  ///   - values: New data by relative path; `NSNull` removes.
  ///   - block: Called on ``Database/callbackQueue`` when the server has stored or rejected it.
  public func updateChildValues(
    _ values: [AnyHashable: Any],
    withCompletionBlock block: Completion?
  ) {
    write(block) { () throws(DatabaseError) in .merge(try Self.changes(values)) }
  }

  static func changes(_ values: [AnyHashable: Any]) throws(DatabaseError) -> [Change] {
    var members: [JSONMember] = []
    for (key, value) in values {
      guard let path = key as? String else {
        throw .invalid("the paths of an update must be strings")
      }
      members.append(JSONMember(path, try NodeConversion.json(value)))
    }
    members.sort { CodeUnits.precedes($0.name, $1.name) }
    return try changes(json: .object(members))
  }

  static func changes(json: JSONValue) throws(DatabaseError) -> [Change] {
    for change in json.members ?? [] { try change.value.check() }
    do throws(NodeError) {
      return try Change.update(json: json)
    } catch {
      throw .invalid(error.description)
    }
  }

  /// Validates a write and starts it, or reports the problem to the completion.
  func write(
    _ block: Completion?,
    operation: () throws(DatabaseError) -> WriteOperation
  ) {
    validated(operation, block: block) { operation, callback in
      let completion = Repo.Completion.write(path: path) { [self] error in
        let named = (error as? DatabaseError)?.naming(.write(operation, at: path))
        callback.call?(named ?? error, self)
      }
      repo.request(completion) { [path] in .write($0, path: path, operation) }
    }
  }

  /// Passes a valid operation on, or reports the problem to the completion.
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
      let located = DatabaseError(error.kind, path: path.description, reason: error.reason)
      repo.deliver { [self] in callback.call?(located, self) }
    }
  }

  private func check(_ operation: WriteOperation) throws(DatabaseError) {
    for change in operation.changes(at: path) {
      let isInfo = change.path.first == ".info"
      let problem =
        isInfo
        ? "/.info cannot be written"
        : Validation.problem(withWritten: change.node, at: change.path)
      if let problem { throw .invalid(problem) }
    }
  }
}

/// Writes that the server performs when this connection ends, however it ends.
extension DatabaseReference {
  /// Makes the server replace the data when this connection ends, however it ends.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - block: Called on ``Database/callbackQueue`` when the server has acknowledged the request.
  public func onDisconnectSetValue(_ value: Any?, withCompletionBlock block: Completion?) {
    onDisconnect(block) { () throws(DatabaseError) in .set(try NodeConversion.node(value)) }
  }

  /// Makes the server replace the data and the priority when this connection ends.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - priority: Nil, a number or a string.
  ///   - block: Called on ``Database/callbackQueue`` when the server has acknowledged the request.
  public func onDisconnectSetValue(
    _ value: Any?,
    andPriority priority: Any?,
    withCompletionBlock block: Completion?
  ) {
    onDisconnect(block) { () throws(DatabaseError) in
      .set(try NodeConversion.node(value, priority: priority))
    }
  }

  /// Makes the server remove the data when this connection ends.
  public func onDisconnectRemoveValue(completionBlock block: Completion?) {
    onDisconnectSetValue(nil, withCompletionBlock: block)
  }

  /// Makes the server replace the data at several relative paths when this connection ends.
  ///
  /// - Parameters:
  ///   - values: New data by relative path; `NSNull` removes.
  ///   - block: Called on ``Database/callbackQueue`` when the server has acknowledged the request.
  public func onDisconnectUpdateChildValues(
    _ values: [AnyHashable: Any],
    withCompletionBlock block: Completion?
  ) {
    onDisconnect(block) { () throws(DatabaseError) in .merge(try Self.changes(values)) }
  }

  /// Cancels the operations scheduled at and below this location for the end of this connection.
  public func cancelDisconnectOperations(completionBlock block: Completion?) {
    let callback = Callback(block)
    let completion = Repo.Completion.write(path: path) { [self] in callback.call?($0, self) }
    repo.request(completion) { [path] in .cancelOnDisconnect($0, path: path) }
  }

  private func onDisconnect(
    _ block: Completion?,
    operation: () throws(DatabaseError) -> WriteOperation
  ) {
    validated(operation, block: block) { operation, callback in
      let completion = Repo.Completion.write(path: path) { [self] in callback.call?($0, self) }
      repo.request(completion) { [path] in .onDisconnect($0, path: path, operation) }
    }
  }
}

extension DatabaseReference {
  /// Computes new data from the current data without overwriting concurrent changes.
  ///
  /// The block runs at once on the data known locally (none if none is known yet), and again
  /// whenever the server reports that the data had changed. It must therefore give the same result
  /// each time and have no side effects. The transaction fails after
  /// ``DatabaseOptions/transactionTries`` attempts.
  ///
  /// As in the original, the block runs on a thread of the database and not on the callback queue.
  /// Read any actor-isolated state that it needs, main-actor state included, before the call.
  ///
  /// - Parameters:
  ///   - block: Changes the data that it is given; runs on the database's own thread.
  ///   - completionBlock: Gets an error, whether the change was stored, and the resulting data;
  ///     runs on ``Database/callbackQueue``.
  ///   - localEvents: Whether local observers see the change before the server has stored it.
  @preconcurrency
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult,
    andCompletionBlock completionBlock: (((any Error)?, Bool, DataSnapshot?) -> Void)?,
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
