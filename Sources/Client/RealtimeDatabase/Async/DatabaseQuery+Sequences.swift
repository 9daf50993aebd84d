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
/// server refuses the data, the sequence throws its ``DatabaseError``.
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
