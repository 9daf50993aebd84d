package import RealtimeCore

/// A write that has not been answered, as it outlives its process.
package struct StoredWrite: Sendable, Equatable {
  /// Counts the writes of a store; a later write has a higher number.
  package var number: Int64
  /// The name of the write for servers that apply it once.
  package var key: WriteKey
  /// The location.
  package var path: Path
  /// What is sent, with the values that the server decides left open.
  package var operation: WriteOperation
  /// What observers see of it meanwhile, those values estimated when it was made.
  package var estimate: WriteOperation
  /// Who made it, or nil when nobody was signed in; nobody else sends it.
  package var owner: String?

  /// Makes a write.
  package init(
    number: Int64,
    key: WriteKey,
    path: Path,
    operation: WriteOperation,
    estimate: WriteOperation,
    owner: String? = nil
  ) {
    self.number = number
    self.key = key
    self.path = path
    self.operation = operation
    self.estimate = estimate
    self.owner = owner
  }
}
