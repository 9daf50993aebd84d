/// Records which part of a drawn screen covers which cells, so that clicks can be resolved.
///
/// The code that draws a part registers it here, so that a click always hits what the user sees.
package struct HitMap<Target: Sendable>: Sendable {
  private var parts: [(rect: Rect, target: Target?)] = []

  /// Records that a part was drawn, over everything that was drawn there before.
  package mutating func add(_ target: Target, at rect: Rect) {
    parts.append((rect, target))
  }

  /// Records that something was drawn over a rectangle that is not a part of its own.
  package mutating func cover(_ rect: Rect) {
    parts.append((rect, nil))
  }

  /// The part that was last drawn over a cell, and the position of the cell, counted from the top
  /// left of the part; nil if there is none.
  ///
  /// - Complexity: O(n) in the number of parts
  package func hit(at position: Position) -> (target: Target, offset: Position)? {
    guard let part = parts.last(where: { $0.rect.contains(position) }), let target = part.target
    else { return nil }
    let offset = Position(
      row: position.row - part.rect.row,
      column: position.column - part.rect.column
    )
    return (target, offset)
  }
}
