package import RealtimeCore

/// Writing and waiting for the server.
///
/// Like the forms with a completion block, each call takes effect locally at once; it returns when
/// the server has answered. It throws ``DatabaseError`` if the server rejects the write or does not
/// answer within ``DatabaseOptions/writeDeadline``, and of kind `cancelled` when the task is
/// cancelled. In the last two cases the write stays queued and may still be applied.
extension DatabaseReference {
  /// Replaces the data and waits for the server.
  ///
  /// - Parameter value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func setValue(_ value: Any?) async throws -> DatabaseReference {
    try await answered { setValue(value, withCompletionBlock: $0) }
  }

  /// Replaces the data and the priority and waits for the server.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - priority: Nil, a number or a string.
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func setValue(
    _ value: Any?,
    andPriority priority: Any?
  ) async throws -> DatabaseReference {
    try await answered { setValue(value, andPriority: priority, withCompletionBlock: $0) }
  }

  /// Removes the data and waits for the server.
  ///
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func removeValue() async throws -> DatabaseReference {
    try await answered { removeValue(completionBlock: $0) }
  }

  /// Replaces the priority of existing data and waits for the server.
  ///
  /// - Parameter priority: Nil, a number or a string.
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func setPriority(_ priority: Any?) async throws -> DatabaseReference {
    try await answered { setPriority(priority, withCompletionBlock: $0) }
  }

  /// Replaces the data at several relative paths and waits for the server.
  ///
  /// - Parameter values: New data by relative path; `NSNull` removes.
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func updateChildValues(_ values: [AnyHashable: Any]) async throws -> DatabaseReference {
    try await answered { updateChildValues(values, withCompletionBlock: $0) }
  }

  /// Schedules a value for the end of this connection and waits for the server's acknowledgement.
  ///
  /// - Parameter value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func onDisconnectSetValue(_ value: Any?) async throws -> DatabaseReference {
    try await answered { onDisconnectSetValue(value, withCompletionBlock: $0) }
  }

  /// Schedules a value and a priority for the end of this connection and waits for the server.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - priority: Nil, a number or a string.
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func onDisconnectSetValue(
    _ value: Any?,
    andPriority priority: Any?
  ) async throws -> DatabaseReference {
    try await answered {
      onDisconnectSetValue(value, andPriority: priority, withCompletionBlock: $0)
    }
  }

  /// Schedules the removal of the data for the end of this connection and waits for the server.
  ///
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func onDisconnectRemoveValue() async throws -> DatabaseReference {
    try await answered { onDisconnectRemoveValue(completionBlock: $0) }
  }

  /// Schedules an update for the end of this connection and waits for the server.
  ///
  /// - Parameter values: New data by relative path; `NSNull` removes.
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func onDisconnectUpdateChildValues(
    _ values: [AnyHashable: Any]
  ) async throws -> DatabaseReference {
    try await answered { onDisconnectUpdateChildValues(values, withCompletionBlock: $0) }
  }

  /// Cancels the operations scheduled at and below this location, and waits for the server.
  ///
  /// - Returns: This location.
  /// - Throws: ``DatabaseError``; of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func cancelDisconnectOperations() async throws -> DatabaseReference {
    try await answered { cancelDisconnectOperations(completionBlock: $0) }
  }

  /// Computes new data from the current data and waits for the server.
  ///
  /// - Parameters:
  ///   - block: Changes the data that it is given; may run several times, on the database's own
  ///     thread.
  ///   - localEvents: Whether local observers see the change before the server has stored it.
  /// - Returns: Whether the change was stored, and the resulting data.
  /// - Throws: ``DatabaseError`` if the server rejects the change, after too many attempts, or when
  ///   no answer came in time; of kind `cancelled` when the task is cancelled.
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult,
    withLocalEvents localEvents: Bool = true
  ) async throws -> (Bool, DataSnapshot) {
    try await Answer<(Bool, DataSnapshot)>.awaited(
      within: deadline,
      on: repo.eventLoop,
      cancellation: .cancelled(at: path)
    ) { answer in
      repo.transaction(at: self, localEvents: localEvents, block: block) {
        error,
        committed,
        snapshot in
        if let error {
          answer.finish(.failure(error))
        } else {
          answer.finish(.success((committed, snapshot)))
        }
      }
    }
  }

  private var deadline: (time: Duration, error: @Sendable () -> DatabaseError)? {
    repo.options.writeDeadline.map { time in
      let error: @Sendable () -> DatabaseError = { [repo, path] in
        let obstacle = repo.assumeIsolated { $0.obstacle }.map { " (\($0))" } ?? ""
        let problem = "the server did not acknowledge the write in time\(obstacle)"
        return DatabaseError(.timedOut, at: path, reason: "\(problem); it may still be applied")
      }
      return (time, error)
    }
  }

  /// Starts a write and waits for its completion, at most for `writeDeadline`.
  private func answered(_ start: (@escaping Completion) -> Void) async throws -> DatabaseReference {
    try await Answer<DatabaseReference>.awaited(
      within: deadline,
      on: repo.eventLoop,
      cancellation: .cancelled(at: path)
    ) { answer in
      start { error, reference in
        answer.finish(error.map { .failure($0) } ?? .success(reference))
      }
    }
  }

  /// Starts a write and waits for its completion, without a deadline.
  func finished(_ start: (@escaping Completion) -> Void) async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      start { error, _ in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }
}

/// Reading and writing without conversion, for programs of this package.
extension DatabaseReference {
  /// The path with a leading slash.
  package var pathText: String { path.description }

  /// Replaces the data with JSON in export form and waits for the server.
  package func setValue(json: JSONValue) async throws {
    try await finished { block in
      write(block) { () throws(DatabaseError) in .set(try NodeConversion.node(json: json)) }
    }
  }

  /// Replaces the data at one or several relative paths atomically and waits for the server.
  ///
  /// - Parameter changes: The data, at paths none of which contains another.
  /// - Throws: ``DatabaseError`` when the data is invalid or the server rejects it.
  package func apply(_ changes: [Change]) async throws {
    try await finished { block in
      write(block) {
        changes.count == 1 && changes[0].path.isRoot ? .set(changes[0].node) : .merge(changes)
      }
    }
  }
}

extension DataSnapshot {
  package var jsonValue: JSONValue { node.json(.value) }

  /// The data as JSON with priorities.
  package var exportedJSON: JSONValue { node.json(.export) }
}
