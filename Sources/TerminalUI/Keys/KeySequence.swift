/// One key, or two keys typed one after the other.
package struct KeySequence: Hashable, Sendable, CustomStringConvertible {
  /// The first key.
  package let first: KeyEvent
  /// The key that has to follow, if any.
  package let second: KeyEvent?

  /// Makes a sequence of one or two keys.
  package init(_ first: KeyEvent, _ second: KeyEvent? = nil) {
    self.first = first
    self.second = second
  }

  /// Makes the sequence of that name, such as `g g`, or nil if a key of it has no such name.
  package init?(description: String) {
    let keys = description.split(separator: " ").map { KeyEvent(description: String($0)) }
    guard keys.count == 1 || keys.count == 2, let first = keys[0] else { return nil }
    if keys.count == 2 && keys[1] == nil { return nil }
    self.init(first, keys.count == 2 ? keys[1] : nil)
  }

  /// The names of the keys with a blank between them.
  package var description: String {
    second.map { "\(first) \($0)" } ?? first.description
  }
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
  package func contains(_ key: KeyEvent) -> Bool {
    first == key || second == key
  }

  /// Whether both cannot mean something in the same place: they are equal, or one begins the other.
  package func overlaps(_ other: KeySequence) -> Bool {
    guard first == other.first else { return false }
    return second == nil || other.second == nil || second == other.second
  }
}
