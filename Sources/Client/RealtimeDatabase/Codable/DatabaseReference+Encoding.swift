/// Writing values of types of one's own.
extension DatabaseReference {
  /// Replaces the data by a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: How the value is written.
  ///   - completion: Called when the server has stored or refused it, on ``Database/callbackQueue``.
  /// - Throws: `EncodingError`; then nothing is written and the completion is not called.
  public func setValue<Value: Encodable>(
    from value: Value,
    encoder: Database.Encoder = Database.Encoder(),
    completion: (((any Error)?) -> Void)? = nil
  ) throws {
    setValue(try encoder.encode(value)) { error, _ in completion?(error) }
  }

  /// Replaces the data by a value and waits for the server.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: How the value is written.
  /// - Returns: This location.
  /// - Throws: `EncodingError`, ``DatabaseError``, or `CancellationError` when the task is cancelled.
  @discardableResult
  public func setValue<Value: Encodable>(
    from value: Value,
    encoder: Database.Encoder = Database.Encoder()
  ) async throws -> DatabaseReference {
    try await setValue(try encoder.encode(value))
  }
}
