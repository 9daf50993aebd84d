/// What leaders did after they were frozen for longer than their lease.
struct Awakenings: Hashable, Sendable {
  /// How often a leader woke while another led, and was asked to read and to write.
  private(set) var count = 0
  /// What a woken leader should not have done.
  private(set) var wrongs: [String] = []

  /// Creates an empty record.
  init() {}

  mutating func add(_ found: [String]) {
    count += 1
    wrongs += found
  }
}
