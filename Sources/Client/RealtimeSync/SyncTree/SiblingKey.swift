import RealtimeCore

/// A key in plain text order, in which siblings are visited.
struct SiblingKey: Comparable, Sendable {
  let key: ChildKey

  static func == (left: SiblingKey, right: SiblingKey) -> Bool { left.key == right.key }

  static func < (left: SiblingKey, right: SiblingKey) -> Bool {
    CodeUnits.precedes(left.key.text, right.key.text)
  }
}
