/// One key, or a few keys typed one after another.
package struct KeySequence: Hashable, Sendable, CustomStringConvertible {
  /// The largest number of keys in a sequence.
  package static let longest = 4

  /// The keys in the order in which they are typed; never empty.
  package let keys: [KeyEvent]

  /// Makes the sequence with that name, such as `g g`; nil if one of the names belongs to no key.
  package init?(description: String) {
    let names = description.split(separator: " ")
    guard (1...Self.longest).contains(names.count) else { return nil }
    let keys = names.compactMap { KeyEvent(description: String($0)) }
    guard keys.count == names.count else { return nil }
    self.keys = keys
  }

  /// The names of the keys, separated by blanks.
  package var description: String { keys.map(\.description).joined(separator: " ") }
}

extension KeySequence: ExpressibleByStringLiteral {
  /// Makes the sequence with that name; an unknown key is a programmer error.
  package init(stringLiteral value: StaticString) {
    guard let sequence = KeySequence(description: value.description) else {
      preconditionFailure("no such key: \(value)")
    }
    self = sequence
  }
}

extension KeySequence {
  /// Whether these keys begin the sequence and more have to follow.
  package func continues(_ typed: [KeyEvent]) -> Bool {
    keys.count > typed.count && keys.starts(with: typed)
  }

  /// Whether the two cannot coexist in one context: they are equal, or one begins with the other.
  package func overlaps(_ other: KeySequence) -> Bool {
    keys.starts(with: other.keys) || other.keys.starts(with: keys)
  }
}
