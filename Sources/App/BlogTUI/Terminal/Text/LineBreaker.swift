/// Finds where a row of cells has to be broken to fit a width.
enum LineBreaker {
  /// What the breaker has to know about one item of a line.
  struct Item {
    /// The cells it takes; 0 is allowed.
    var width: Int
    /// Whether it is a blank, after which a line may end and which may hang over its end.
    var isSpace: Bool
    /// Whether a line may end before and after it although it is not a blank.
    var isBreakable: Bool
  }

  /// The index of the first item of each line; the first is always 0.
  ///
  /// Words move to the next line as a whole; a word longer than a line is cut. Blanks at the end of
  /// a line may hang over the edge.
  ///
  /// - Complexity: O(n) in the number of items.
  static func lineStarts(count: Int, width: Int, item: (Int) -> Item) -> [Int] {
    var starts = [0]
    guard width > 0 else { return starts }
    var used = 0
    var lastBreak = 0
    var usedAtBreak = 0
    var previousBreaks = false
    for index in 0..<count {
      let next = item(index)
      let start = starts[starts.count - 1]
      if index > start, !next.isSpace, previousBreaks || next.isBreakable {
        lastBreak = index
        usedAtBreak = used
      }
      previousBreaks = next.isSpace || next.isBreakable
      if !next.isSpace, used + next.width > width, index > start {
        if lastBreak > start {
          starts.append(lastBreak)
          used -= usedAtBreak
        }
        if used + next.width > width, index > starts[starts.count - 1] {
          starts.append(index)
          used = 0
        }
      }
      used += next.width
    }
    return starts
  }
}
