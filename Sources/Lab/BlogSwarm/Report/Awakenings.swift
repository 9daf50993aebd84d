/// What leaders did that were stopped for longer than their lease, and woke.
package struct Awakenings: Hashable, Sendable {
  /// How often one woke while another led, and was asked to read and to write.
  package private(set) var count = 0
  /// What it should not have done.
  package private(set) var wrongs: [String] = []

  /// Makes a record of nothing.
  package init() {}

  mutating func add(_ found: [String]) {
    count += 1
    wrongs += found
  }
}
