import BlogModel

/// The rows of a list as they were drawn last, so that only those are drawn that look different now.
///
/// A key changes one or two of the rows in view, and drawing all the others again would take most of
/// the time until it can be seen.
package struct DrawnRows {
  private var look: PostRowLook?
  private var drawn: [PostID: (row: PostRow, screen: Screen)] = [:]

  /// Nothing was drawn yet.
  package init() {}

  /// Draws rows, and forgets all others.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - look: What they have in common.
  /// - Returns: A screen for each row, of the width of the list and the height of a row.
  mutating func screens(of rows: [PostRow], _ look: PostRowLook) -> [Screen] {
    let before = look == self.look ? drawn : [:]
    let painter = PostRowPainter(look)
    self.look = look
    drawn = [:]
    return rows.map { row in
      let known = before[row.id]
      let screen = known?.row == row ? known?.screen : nil
      let result = screen ?? painter.screen(of: row)
      drawn[row.id] = (row, result)
      return result
    }
  }
}
