/// The data of a query, now and after each change.
public struct DatabaseQuerySnapshotsSequence: AsyncSequence, Sendable {
  /// The data.
  public typealias Element = DataSnapshot
  /// The server's reason, as ``DatabaseError``.
  public typealias Failure = any Error

  private let query: DatabaseQuery

  /// Makes a sequence of the data of a query.
  public init(_ query: DatabaseQuery) {
    self.query = query
  }

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    let query = query
    let stream = AsyncThrowingStream<DataSnapshot, any Error>(
      bufferingPolicy: .bufferingNewest(1)
    ) { continuation in
      let handle = query.observe(.value) { snapshot in
        continuation.yield(snapshot)
      } withCancel: { error in
        continuation.finish(throwing: error)
      }
      continuation.onTermination = { _ in query.removeObserver(withHandle: handle) }
    }
    return Iterator(stream.makeAsyncIterator())
  }

  /// Waits for one snapshot after another.
  public struct Iterator: AsyncIteratorProtocol {
    private var stream: AsyncThrowingStream<DataSnapshot, any Error>.Iterator

    init(_ stream: AsyncThrowingStream<DataSnapshot, any Error>.Iterator) {
      self.stream = stream
    }

    /// The newest data that were not yet given.
    ///
    /// - Parameter actor: Where the caller runs.
    /// - Returns: The data, or nil when the task is cancelled.
    /// - Throws: ``DatabaseError`` when the server refuses them.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> DataSnapshot? {
      try await stream.next(isolation: actor)
    }
  }
}

@available(*, unavailable)
extension DatabaseQuerySnapshotsSequence.Iterator: Sendable {}
