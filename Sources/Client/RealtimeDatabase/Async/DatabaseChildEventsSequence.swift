/// What happens to the children of a query, in its order.
public struct DatabaseChildEventsSequence: AsyncSequence, Sendable {
  /// Something that happened.
  public typealias Element = DatabaseEvent
  /// The server's reason, as ``DatabaseError``.
  public typealias Failure = any Error

  private let query: DatabaseQuery
  private let limit: Int

  /// Makes a sequence of what happens to the children of a query.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - limit: The most events that wait; 100 000 unless given.
  public init(_ query: DatabaseQuery, bufferingAtMost limit: Int = 100_000) {
    precondition(limit > 0, "at least one event must be able to wait")
    self.query = query
    self.limit = limit
  }

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    let query = query
    let stream = AsyncThrowingStream<DatabaseEvent, any Error>(
      bufferingPolicy: .bufferingOldest(limit)
    ) { continuation in
      let handle = query.observe(
        [.childAdded, .childChanged, .childMoved, .childRemoved]
      ) { type, snapshot, previousKey in
        guard let event = DatabaseEvent(type, snapshot, previousKey) else { return }
        if case .dropped = continuation.yield(event) {
          continuation.finish(throwing: Self.overflow(query))
        }
      } withCancel: { error in
        continuation.finish(throwing: error)
      }
      continuation.onTermination = { _ in query.removeObserver(withHandle: handle) }
    }
    return Iterator(stream.makeAsyncIterator())
  }

  private static func overflow(_ query: DatabaseQuery) -> DatabaseError {
    DatabaseError(
      .overflow,
      path: query.ref.pathText,
      reason: "more events were waiting than the sequence may keep"
    )
  }

  /// Waits for one event after another.
  public struct Iterator: AsyncIteratorProtocol {
    private var stream: AsyncThrowingStream<DatabaseEvent, any Error>.Iterator

    init(_ stream: AsyncThrowingStream<DatabaseEvent, any Error>.Iterator) {
      self.stream = stream
    }

    /// The next event.
    ///
    /// - Parameter actor: Where the caller runs.
    /// - Returns: The event, or nil when the task is cancelled.
    /// - Throws: ``DatabaseError`` when the server refuses the data or too many events were waiting.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> DatabaseEvent? {
      try await stream.next(isolation: actor)
    }
  }
}

@available(*, unavailable)
extension DatabaseChildEventsSequence.Iterator: Sendable {}
