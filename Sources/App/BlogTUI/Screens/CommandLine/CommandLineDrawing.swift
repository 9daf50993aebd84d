extension Painter {
  private static let completionLimit = 8

  /// Paints the command line with its colon, or with its question.
  mutating func paint(_ line: CommandLine) {
    let key = SafeText(untrusted: session.key("complete", in: .command))
    paintLine(
      line.field,
      of: CommandLine.self,
      after: line.label(in: frame.footer.width),
      placeholder: line.question == nil ? "a command; " + key + " completes" : "a name",
      isFocused: model.context == .command
    )
  }

  /// Paints the completions of the typed text above the line.
  mutating func paintCompletions(of line: CommandLine) {
    let height = min(line.completions.count, Self.completionLimit, frame.content.height)
    guard height > 0 else { return }
    let first = max(0, min((line.selected ?? 0) - height + 1, line.completions.count - height))
    let names = line.completions.map(\.title.width).max() ?? 0
    let column = min(names, max(8, screen.size.width / 2))
    for offset in 0..<height {
      let completion = line.completions[first + offset]
      let row = frame.footer.cut(top: offset - height).line(0)
      hits.add(.row(first + offset, of: CommandLine.self), at: row)
      let isSelected = line.selected == first + offset
      let style = theme.style(theme.text, isSelected: isSelected)
      screen.fill(row, style: isSelected ? theme.selected : style)
      let mark: SafeText = isSelected ? (isASCII ? ">" : "▸") : " "
      screen.put(mark, at: row.origin, style: style, clip: row)
      let name = row.cut(left: 1).with(width: column)
      put(completion.title, in: name, style: style)
      let rest = row.cut(left: column + 3, right: 1)
      let detail = theme.style(theme.dim, isSelected: isSelected)
      put(completion.detail, in: rest, style: detail)
    }
  }
}
