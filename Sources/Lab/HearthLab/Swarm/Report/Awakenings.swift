/// What leaders did after they were frozen for longer than their lease.
package struct Awakenings: Hashable, Sendable {
  /// How often a leader woke while another led, and was asked to read and to write.
  package private(set) var count = 0
  /// What a woken leader should not have done.
  package private(set) var wrongs: [String] = []

  /// Creates an empty record.
  package init() {}

  mutating func add(_ found: [String]) {
    count += 1
    wrongs += found
  }
}
