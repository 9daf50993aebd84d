/// What happens, as sequences.
///
/// ```swift
/// for try await snapshot in posts.queryLimited(toLast: 10).snapshots {
///   print(snapshot.childrenCount)
/// }
/// ```
///
/// Each iteration is an observer of its own. It is removed when the loop is left, when its task is
/// cancelled (the sequence then ends without an error) and when the iterator is released. When the
/// server rejects the data, the sequence throws its ``DatabaseError``.
extension DatabaseQuery {
  /// The whole data, now and after each change.
  ///
  /// Buffering: only the newest snapshot waits. A loop that is slower than the changes misses the
  /// states in between, and never the last one.
  public var snapshots: DatabaseQuerySnapshotsSequence { DatabaseQuerySnapshotsSequence(self) }

  /// What happens to the children, in its order.
  ///
  /// Buffering: up to `limit` events wait. When more would have to, the loop gets those that wait and
  /// then ``DatabaseError`` of code `overflow`, as a list that misses an event would stay wrong.
  ///
  /// - Parameter limit: The most events that wait; 100 000 unless given.
  /// - Returns: A sequence of events, beginning with the children that are there.
  public func childEvents(bufferingAtMost limit: Int = 100_000) -> DatabaseChildEventsSequence {
    DatabaseChildEventsSequence(self, bufferingAtMost: limit)
  }
}

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
    /// - Throws: ``DatabaseError`` if the server rejects them.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> DataSnapshot? {
      try await stream.next(isolation: actor)
    }
  }
}

@available(*, unavailable)
extension DatabaseQuerySnapshotsSequence.Iterator: Sendable {}

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
        guard let event = DatabaseEvent(type, snapshot: snapshot, previousKey: previousKey) else {
          return
        }
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
    /// - Throws: ``DatabaseError`` if the server rejects the data or too many events were waiting.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> DatabaseEvent? {
      try await stream.next(isolation: actor)
    }
  }
}

@available(*, unavailable)
extension DatabaseChildEventsSequence.Iterator: Sendable {}

/// Something that happened to a child.
public enum DatabaseEvent: Sendable {
  /// A child has come, or was there at the beginning.
  case childAdded(DataSnapshot, previousSiblingKey: String?)
  /// The data of a child have changed.
  case childChanged(DataSnapshot, previousSiblingKey: String?)
  /// A child has gone.
  case childRemoved(DataSnapshot)
  /// What a child is ordered by has changed.
  case childMoved(DataSnapshot, previousSiblingKey: String?)

  /// The child.
  public var snapshot: DataSnapshot {
    switch self {
    case .childAdded(let snapshot, _), .childChanged(let snapshot, _), .childRemoved(let snapshot),
      .childMoved(let snapshot, _):
      snapshot
    }
  }

  init?(_ type: DataEventType, snapshot: DataSnapshot, previousKey: String?) {
    switch type {
    case .childAdded: self = .childAdded(snapshot, previousSiblingKey: previousKey)
    case .childChanged: self = .childChanged(snapshot, previousSiblingKey: previousKey)
    case .childRemoved: self = .childRemoved(snapshot)
    case .childMoved: self = .childMoved(snapshot, previousSiblingKey: previousKey)
    case .value: return nil
    }
  }
}
