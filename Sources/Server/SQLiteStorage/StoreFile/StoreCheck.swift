/// What a look at every page, row and checksum of a store has found.
package struct StoreCheck: Sendable, Equatable {
  /// The number of the last commit.
  package var revision: Int64 = 0
  /// The rows of the node table.
  package var rowCount = 0
  /// The batches of commits that are in the log only.
  package var batchCount = 0
  /// What is damaged, as sentences that name the place; at most ``faultLimit``.
  package var faults: [String] = []

  /// The most faults that are told.
  package static let faultLimit = 100

  mutating func add(_ fault: String) {
    if faults.count < Self.faultLimit { faults.append(fault) }
  }
}
