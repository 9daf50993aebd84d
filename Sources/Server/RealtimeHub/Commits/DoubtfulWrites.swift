/// The keyed writes of a batch of which no one knows whether it has been stored.
///
/// A client numbers its writes in the order in which it sends them, and again, so that with one of them
/// all that follow are doubtful as well: the ledger cannot tell them apart.
struct DoubtfulWrites: Sendable {
  private var first: [LedgerName: Int64] = [:]

  /// Adds a write, and those of its client that follow.
  mutating func insert(_ key: LedgerKey) {
    first[key.name] = min(first[key.name] ?? key.number, key.number)
  }

  /// Whether a write may be stored already.
  func contains(_ key: LedgerKey) -> Bool {
    first[key.name].map { $0 <= key.number } ?? false
  }
}
