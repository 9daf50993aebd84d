/// Something that the mouse did over a cell.
package struct MouseEvent: Hashable, Sendable, Codable {
  /// What the mouse did.
  package enum Kind: Hashable, Sendable, Codable {
    /// The left button went down.
    case press
    /// The left button went up.
    case release
    /// The wheel turned away from the user.
    case wheelUp
    /// The wheel turned towards the user.
    case wheelDown
  }

  /// What the mouse did.
  package let kind: Kind
  /// The cell below the pointer.
  package let position: Position

  /// Makes an event.
  package init(kind: Kind, position: Position) {
    self.kind = kind
    self.position = position
  }
}
