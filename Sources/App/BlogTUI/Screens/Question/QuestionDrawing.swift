import BlogModel

extension Painter {
  /// Paints a question; its answers are never cut off, however small the screen is.
  mutating func paint(_ asked: QuestionScreen) {
    let question = asked.question
    let width = frame.footer.width - 2
    var lines = text(of: question).wrapped(width: width)
    var last: [AnswerLine] = []
    for (answer, text) in answers(to: asked) {
      if let line = last.last, line.text.width + 2 + text.width <= width {
        last[last.count - 1].append(answer, text: text)
      } else {
        last.append(AnswerLine(answer, text: text))
      }
    }
    if let text = lines.last, let first = last.first, text.width + 2 + first.text.width <= width,
      lines.count + last.count - 1 <= footerLimit
    {
      last[0] = first.behind(text)
      lines.removeLast()
    }
    let room = max(1, footerLimit - last.count)
    if lines.count + last.count > footerLimit, lines.count > room {
      lines.removeLast(lines.count - room)
      lines[room - 1] = lines[room - 1] + glyphs.ellipsis
    }
    paintLines(lines + last.map(\.text), style: theme.question)
    for (index, line) in last.enumerated() {
      let row = frame.footer.row - last.count + 1 + index
      for (answer, columns) in line.areas {
        let column = frame.footer.column + 1 + columns.lowerBound
        let rect = Rect(row: row, column: column, width: columns.count, height: 1)
        hits.add(.answer(answer), at: rect)
      }
    }
  }

  private struct AnswerLine {
    private(set) var text: SafeText
    private(set) var areas: [(answer: Answer, columns: Range<Int>)]

    init(_ answer: Answer, text: SafeText) {
      self.text = text
      areas = [(answer, 0..<text.width)]
    }

    mutating func append(_ answer: Answer, text: SafeText) {
      self.text.append("  ")
      let start = self.text.width
      self.text.append(text)
      areas.append((answer, start..<start + text.width))
    }

    /// The same answers after a text.
    func behind(_ text: SafeText) -> AnswerLine {
      let start = text.width + 2
      var line = self
      line.text = text + "  " + self.text
      line.areas = areas.map {
        ($0.answer, $0.columns.lowerBound + start..<$0.columns.upperBound + start)
      }
      return line
    }
  }

  private func text(of question: Question) -> SafeText {
    switch question {
    case .delete(let action) where action.comment != nil: return "Delete this comment?"
    case .delete(let action):
      let post = action.post.flatMap(model.knownPost)
      let title = SafeText(untrusted: post?.title ?? "", limit: 60)
      let shown = title.truncated(to: max(8, frame.footer.width - 34), ellipsis: glyphs.ellipsis)
      return "Delete \"" + shown + "\"?"
    case .keepDraft: return "Keep this draft?"
    case .quit: return "Quit? " + openEnds
    }
  }

  /// The answers to a question with their keys; the selected one is in brackets.
  private func answers(to asked: QuestionScreen) -> [(Answer, SafeText)] {
    let letters: [Action] = [.yes, .no]
    let keys = [nil] + letters.map { session.keys.keyText(for: $0, in: .confirm) }
    return zip(asked.question.answers, keys).map { answer, key in
      let name = Self.name(of: answer)
      if answer == asked.answer { return (answer, "[" + name + "]") }
      return (answer, key.map { $0 + " " + name } ?? name)
    }
  }

  private static func name(of answer: Answer) -> SafeText {
    switch answer {
    case .cancel: "Cancel"
    case .delete: "Delete"
    case .keep: "Keep"
    case .discard: "Discard"
    case .quit: "Quit"
    }
  }

  /// What would be unfinished after leaving.
  private var openEnds: SafeText {
    let typed = model.unsentDrafts.count + model.unsentComments.count
    let pending = session.writing.pendingWrites
    var parts: [SafeText] = []
    if typed > 0, session.writing.keepProblem != nil {
      parts.append(
        Self.count(typed, one: "unsent text cannot be saved", many: "unsent texts cannot be saved")
          + " and will be lost."
      )
    } else if typed > 0 {
      parts.append(Self.count(typed, one: "unsent text is kept.", many: "unsent texts are kept."))
    }
    if pending > 0 {
      parts.append(
        Self.count(pending, one: "write is unacknowledged.", many: "writes are unacknowledged.")
      )
    }
    return parts.joined(separator: " ")
  }
}
