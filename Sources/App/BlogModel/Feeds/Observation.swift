internal import RealtimeDatabase

/// An observer of a query, which observes for as long as somebody keeps this.
///
/// The callbacks run on the callback queue of the database, never before the initializer returns.
final class Observation: Sendable {
  private let query: DatabaseQuery
  private let handle: DatabaseHandle

  /// Observes everything that a query selects, as a whole.
  init(
    _ query: DatabaseQuery,
    take: @escaping (DataSnapshot) -> Void,
    cancelled: ((any Error) -> Void)? = nil
  ) {
    self.query = query
    handle = query.observe(.value, with: take, withCancel: cancelled)
  }

  /// Observes each change of what a query selects; a value event ends each burst of them.
  init(
    changesOf query: DatabaseQuery,
    take: @escaping (DataEventType, DataSnapshot) -> Void,
    cancelled: @escaping (any Error) -> Void
  ) {
    self.query = query
    handle = query.observe(
      [.childAdded, .childChanged, .childMoved, .childRemoved, .value],
      with: { event, snapshot, _ in take(event, snapshot) },
      withCancel: cancelled
    )
  }

  deinit { query.removeObserver(withHandle: handle) }
}
