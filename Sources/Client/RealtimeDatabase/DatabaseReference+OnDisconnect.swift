internal import RealtimeCore

/// Having the server write when this connection ends, however it ends.
extension DatabaseReference {
  /// Has the server replace the data when this connection ends, however it ends.
  ///
  /// - Parameters:
  ///   - value: Nil, `NSNull`, booleans, numbers, strings, and arrays and dictionaries of them.
  ///   - block: Called when the server knows of it, on ``Database/callbackQueue``.
  public func onDisconnectSetValue(_ value: Any?, withCompletionBlock block: Completion? = nil) {
    onDisconnect(block) { () throws(DatabaseError) in .set(try NodeConversion.node(value)) }
  }

  /// Has the server replace the data and the priority when this connection ends.
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

  /// Has the server remove the data when this connection ends.
  public func onDisconnectRemoveValue(completionBlock block: Completion? = nil) {
    onDisconnectSetValue(nil, withCompletionBlock: block)
  }

  /// Has the server replace the data at several paths below when this connection ends.
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
    _ operation: () throws(DatabaseError) -> WriteOperation
  ) {
    validated(operation, block) { operation, callback in
      repo.onDisconnect(self, operation) { [self] error in callback.call?(error, self) }
    }
  }
}
