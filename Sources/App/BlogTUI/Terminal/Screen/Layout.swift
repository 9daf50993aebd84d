/// Divides rectangles into rows and columns.
package enum Layout {
  /// Stacks parts from top to bottom; the result has one rectangle for each part.
  package static func rows(_ parts: [Length], in rect: Rect) -> [Rect] {
    var row = rect.row
    return lengths(parts, total: rect.height).map { height in
      defer { row += height }
      return Rect(row: row, column: rect.column, width: rect.width, height: height)
    }
  }

  /// Puts parts side by side from left to right; the result has one rectangle for each part.
  package static func columns(_ parts: [Length], in rect: Rect) -> [Rect] {
    var column = rect.column
    return lengths(parts, total: rect.width).map { width in
      defer { column += width }
      return Rect(row: rect.row, column: column, width: width, height: rect.height)
    }
  }

  /// The length of each part; together never more than the total.
  package static func lengths(_ parts: [Length], total: Int) -> [Int] {
    var left = max(0, total)
    var result = [Int](repeating: 0, count: parts.count)
    var weights = 0
    for (index, part) in parts.enumerated() {
      switch part {
      case .fixed(let length):
        result[index] = min(max(0, length), left)
        left -= result[index]
      case .flexible(let weight):
        weights += max(0, weight)
      }
    }
    for (index, part) in parts.enumerated() {
      guard case .flexible(let weight) = part, weight > 0, weights > 0 else { continue }
      let share = left * weight / weights
      result[index] = share
      left -= share
      weights -= weight
    }
    return result
  }
}
