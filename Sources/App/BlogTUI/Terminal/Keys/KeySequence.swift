/// One key, or a few keys typed one after the other.
package struct KeySequence: Hashable, Sendable, CustomStringConvertible {
  /// How many keys a sequence has at most.
  package static let longest = 4

  /// The keys in the order in which they are typed; never empty.
  package let keys: [KeyEvent]

  /// Makes a sequence; it is a programmer error to give it more keys than ``longest``.
  package init(_ first: KeyEvent, _ rest: KeyEvent...) {
    precondition(rest.count < Self.longest, "a sequence of more than \(Self.longest) keys")
    keys = [first] + rest
  }

  /// Makes the sequence of that name, such as `g g`, or nil if a key of it has no such name.
  package init?(description: String) {
    let names = description.split(separator: " ")
    guard (1...Self.longest).contains(names.count) else { return nil }
    let keys = names.compactMap { KeyEvent(description: String($0)) }
    guard keys.count == names.count else { return nil }
    self.keys = keys
  }

  /// The names of the keys with blanks between them.
  package var description: String { keys.map(\.description).joined(separator: " ") }
}

extension KeySequence: ExpressibleByStringLiteral {
  /// Makes the sequence of that name; it is a programmer error to name an unknown key.
  package init(stringLiteral value: StaticString) {
    guard let sequence = KeySequence(description: value.description) else {
      preconditionFailure("no such key: \(value)")
    }
    self = sequence
  }
}

extension KeySequence {
  /// Whether the key is a part of the sequence.
  package func contains(_ key: KeyEvent) -> Bool { keys.contains(key) }

  /// Whether those keys begin the sequence, and more have to follow.
  package func continues(_ typed: [KeyEvent]) -> Bool {
    keys.count > typed.count && keys.starts(with: typed)
  }

  /// Whether both cannot mean something in the same place: they are equal, or one begins the other.
  package func overlaps(_ other: KeySequence) -> Bool {
    keys.starts(with: other.keys) || other.keys.starts(with: keys)
  }
}
