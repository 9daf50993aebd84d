/// What a store tells, from a thread of its own.
package struct OfflineStoreObservers: Sendable {
  /// Takes the size of all that is kept in bytes, after each change of it.
  package var onSize: @Sendable (Int64) -> Void
  /// Takes the reasons why not everything is kept, each once.
  package var onProblem: @Sendable (OfflineStoreError) -> Void

  /// Makes observers.
  package init(
    onSize: @escaping @Sendable (Int64) -> Void,
    onProblem: @escaping @Sendable (OfflineStoreError) -> Void
  ) {
    self.onSize = onSize
    self.onProblem = onProblem
  }
}
