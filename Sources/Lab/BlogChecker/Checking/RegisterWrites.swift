/// The writes of one value, of which each replaces what the one before has written.
struct RegisterWrites<Value: Hashable & Sendable>: Sendable {
  private struct Write {
    let value: Value
    let operation: ClientOperation
  }

  private var writes: [Write] = []

  /// The operations that have written, or may have.
  var operations: [ClientOperation] { writes.map(\.operation) }

  mutating func add(_ value: Value, _ operation: ClientOperation) {
    guard !operation.isRefused else { return }
    writes.append(Write(value: value, operation: operation))
  }

  /// The values that may be there at a moment when nothing is under way.
  ///
  /// A write may be the last one unless one that began after its acknowledgement was acknowledged as
  /// well. One of unknown outcome may have happened at any time since, or not at all.
  ///
  /// - Parameters:
  ///   - period: What was acknowledged by its beginning has happened, what began after its end not.
  ///   - initial: The value before all writes.
  /// - Returns: All that are possible.
  /// - Complexity: O(writes)
  func possible(at period: Period, initial: Value) -> Set<Value> {
    var lastSettled: Moment?
    for write in writes where period.hasSettled(write.operation) {
      lastSettled = max(lastSettled ?? write.operation.invoked, write.operation.invoked)
    }
    var values: Set<Value> = lastSettled == nil ? [initial] : []
    for write in writes where period.mayHaveBegun(write.operation) {
      if let end = write.operation.acknowledged, let lastSettled, end < lastSettled { continue }
      values.insert(write.value)
    }
    return values
  }
}
