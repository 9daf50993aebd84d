internal import RealtimeCore

/// Writing, with or without a block for the answer.
///
/// A write is seen by observers here at once, and sent as soon as the server can be reached. Data that
/// cannot be stored are not written: the completion gets `invalid_data`.
extension DatabaseReference {
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
  ///   - block: Called when the server has stored or refused it, on ``Database/callbackQueue``.
  public func setPriority(_ priority: Any?, withCompletionBlock block: Completion? = nil) {
    // The priority is a location of its own; the answer is still about this one.
    let place = DatabaseReference(database: database, path: path.appending(.priority))
    let located: Completion = { [self] error, _ in block?(error, self) }
    place.write(located) { () throws(DatabaseError) in
      .set(try NodeConversion.priority(priority))
    }
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

  static func node(_ json: JSONValue) throws(DatabaseError) -> Node {
    try json.check()
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
    validated(operation, block) { operation, callback in
      repo.write(self, operation) { [self] error in callback.call?(error, self) }
    }
  }

  /// Hands a legal operation on, or reports what is wrong with it to the completion.
  func validated(
    _ operation: () throws(DatabaseError) -> WriteOperation,
    _ block: Completion?,
    _ start: (WriteOperation, Callback<Completion?>) -> Void
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
