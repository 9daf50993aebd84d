/// Which part of a drawn screen covers which cells, so that a click can be resolved.
///
/// The code that draws a part registers it here, so that a click always hits what the user sees.
package struct HitMap<Target: Sendable>: Sendable {
  /// What is under a cell.
  package struct Hit: Sendable {
    /// The part.
    package let target: Target
    /// The cell, counted from the top left of the part.
    package let offset: Position
  }

  private var parts: [(rect: Rect, target: Target?)] = []

  /// Makes a map of an empty screen.
  package init() {}

  /// Notes that a part was drawn, over all that was drawn there before.
  package mutating func add(_ target: Target, at rect: Rect) {
    parts.append((rect, target))
  }

  /// Notes that something was drawn over a rectangle that is no part of its own.
  package mutating func cover(_ rect: Rect) {
    parts.append((rect, nil))
  }

  /// The part that was drawn last over a cell; nil where there is none.
  ///
  /// - Complexity: O(n) in the number of parts.
  package func hit(at position: Position) -> Hit? {
    guard let part = parts.last(where: { $0.rect.contains(position) }), let target = part.target
    else { return nil }
    let offset = Position(
      row: position.row - part.rect.row,
      column: position.column - part.rect.column
    )
    return Hit(target: target, offset: offset)
  }
}
