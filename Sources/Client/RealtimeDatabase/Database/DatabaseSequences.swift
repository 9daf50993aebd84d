internal import NIOConcurrencyHelpers

/// Observing with `for await` loops.
///
/// ```swift
/// for try await snapshot in posts.queryLimited(toLast: 10).snapshots {
///   print(snapshot.childrenCount)
/// }
/// ```
///
/// Each iteration adds its own observer. The observer is removed when the loop exits, when its task
/// is cancelled (the sequence then ends without an error) and when the iterator is released. If the
/// server denies access to the data or the database is closed, the sequence throws the
/// ``DatabaseError``.
extension DatabaseQuery {
  /// All data of the query, initially and after each change.
  ///
  /// Buffering: only the newest snapshot is kept. A loop that is slower than the changes misses
  /// states in between, but never the last one.
  public var snapshots: DatabaseQuerySnapshotsSequence { DatabaseQuerySnapshotsSequence(self) }

  /// The events of the children, in order.
  ///
  /// Buffering: up to `limit` events are kept. If more arrive, the loop gets the buffered events
  /// and then a ``DatabaseError`` of kind `overflow`, because a list that misses an event would
  /// stay wrong.
  ///
  /// - Parameter limit: The size of the buffer in events, at least 1; 100 000 by default.
  /// - Returns: A sequence of events that begins with the existing children.
  public func childEvents(bufferingAtMost limit: Int = 100_000) -> DatabaseChildEventsSequence {
    DatabaseChildEventsSequence(self, bufferingAtMost: limit)
  }
}

/// The data of a query, initially and after each change.
public struct DatabaseQuerySnapshotsSequence: AsyncSequence, Sendable {
  /// All data of the query at one moment.
  public typealias Element = DataSnapshot
  /// A ``DatabaseError`` with the server's reason.
  public typealias Failure = any Error

  private let query: DatabaseQuery

  /// Makes a sequence of the data of a query.
  public init(_ query: DatabaseQuery) {
    self.query = query
  }

  /// Starts observing.
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

  /// Returns the newest snapshot if it has not been returned yet; otherwise waits for one.
  public typealias Iterator = DatabaseSequenceIterator<DataSnapshot>
}

/// The events of a query's children, in order.
public struct DatabaseChildEventsSequence: AsyncSequence, Sendable {
  /// An event of a child.
  public typealias Element = DatabaseEvent
  /// A ``DatabaseError`` with the server's reason, or of kind `overflow`.
  public typealias Failure = any Error

  private let query: DatabaseQuery
  private let limit: Int

  /// Makes a sequence of the events of a query's children.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - limit: The size of the buffer in events, at least 1; 100 000 by default.
  public init(_ query: DatabaseQuery, bufferingAtMost limit: Int = 100_000) {
    CallerContract.require(limit > 0, "the buffer must hold at least one event")
    self.query = query
    self.limit = limit
  }

  /// Starts observing.
  public func makeAsyncIterator() -> Iterator {
    let query = query
    let isFull = NIOLockedValueBox(false)
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
          isFull.withLockedValue { $0 = true }
          continuation.finish(throwing: Self.overflow(query))
        }
      } withCancel: { error in
        continuation.finish(throwing: error)
      }
      continuation.onTermination = { _ in query.removeObserver(withHandle: handle) }
      // A stream that has ended already does not call that.
      if isFull.withLockedValue(\.self) { query.removeObserver(withHandle: handle) }
    }
    return Iterator(stream.makeAsyncIterator())
  }

  private static func overflow(_ query: DatabaseQuery) -> DatabaseError {
    DatabaseError(.overflow, at: query.path, reason: "the sequence's buffer of events is full")
  }

  /// Waits for the next event.
  public typealias Iterator = DatabaseSequenceIterator<DatabaseEvent>
}

/// Waits for the elements of a sequence, one by one.
public struct DatabaseSequenceIterator<Element: Sendable>: AsyncIteratorProtocol {
  private var stream: AsyncThrowingStream<Element, any Error>.Iterator

  init(_ stream: AsyncThrowingStream<Element, any Error>.Iterator) {
    self.stream = stream
  }

  /// Returns the next element.
  ///
  /// - Parameter actor: The caller's actor.
  /// - Returns: The element, or nil when the task is cancelled.
  /// - Throws: ``DatabaseError`` if the server denies access, or a buffer of events has overflowed.
  public mutating func next(
    isolation actor: isolated (any Actor)? = #isolation
  ) async throws -> Element? {
    try await stream.next(isolation: actor)
  }
}

@available(*, unavailable)
extension DatabaseSequenceIterator: Sendable {}

/// An event of a child.
public enum DatabaseEvent: Sendable {
  /// A child was added to the query, or was part of it when the observer was added.
  case childAdded(DataSnapshot, previousSiblingKey: String?)
  /// The data of a child changed.
  case childChanged(DataSnapshot, previousSiblingKey: String?)
  /// A child was removed from the query.
  case childRemoved(DataSnapshot)
  /// The value by which a child is ordered changed.
  case childMoved(DataSnapshot, previousSiblingKey: String?)

  /// The child that the event is about.
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
