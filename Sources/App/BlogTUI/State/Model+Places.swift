/// Where list and post are: one in front of the other, or side by side on a wide screen.
extension Model {
  /// The number of columns from which on list and post have room beside each other.
  static let splitWidth = 140

  /// Whether list and post are side by side.
  package var isSplit: Bool {
    size.width >= Self.splitWidth && size.height >= 10 && settings.word(.split) != "never"
  }

  /// Where the list is.
  var listRect: Rect {
    let content = Frame(size).content
    guard isSplit else { return content }
    return Rect(
      row: content.row,
      column: content.column,
      width: content.width * 9 / 20,
      height: content.height
    )
  }

  /// Where the post is.
  var postFrame: PostFrame {
    let frame = Frame(size)
    let textWidth = settings.number(.textWidth)
    guard isSplit else { return PostFrame(frame, in: frame.content, textWidth: textWidth) }
    let left = listRect.endColumn + 1
    let right = Rect(
      row: frame.content.row,
      column: left,
      width: frame.content.endColumn - left,
      height: frame.content.height
    )
    return PostFrame(frame, in: right, textWidth: textWidth)
  }

  /// Where the parts of the form for a post are.
  var composeFrame: ComposeFrame {
    ComposeFrame(Frame(size), textWidth: settings.number(.textWidth))
  }
}
