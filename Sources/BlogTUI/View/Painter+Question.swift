import BlogModel
import TerminalUI

extension Painter {
  /// A question with its answers, which are never cut, however small the screen is.
  mutating func paintQuestion(_ question: Question) {
    let width = frame.footer.width - 2
    var lines = text(of: question).wrapped(width: width)
    var last: [SafeText] = []
    for answer in answers(to: question) {
      if let line = last.last, line.width + 2 + answer.width <= width {
        last[last.count - 1] = line + "  " + answer
      } else {
        last.append(answer)
      }
    }
    if let text = lines.last, let first = last.first, text.width + 2 + first.width <= width,
      lines.count + last.count - 1 <= footerLimit
    {
      lines[lines.count - 1] = text + "  " + first
      last.removeFirst()
    }
    let room = max(1, footerLimit - last.count)
    if lines.count + last.count > footerLimit, lines.count > room {
      lines.removeLast(lines.count - room)
      lines[room - 1] = lines[room - 1] + glyphs.ellipsis
    }
    paintLines(lines + last, style: theme.question)
  }

  private func text(of question: Question) -> SafeText {
    switch question {
    case .deletePost(let id):
      let title = SafeText(untrusted: model.knownPost(id)?.title ?? "", limit: 60)
      let shown = title.truncated(to: max(8, frame.footer.width - 34), ellipsis: glyphs.ellipsis)
      return "Delete \"" + shown + "\"?"
    case .deleteComment: return "Delete this comment?"
    case .keepDraft: return "Keep this draft?"
    case .quit: return "Quit? " + openEnds
    }
  }

  /// The answers to a question with their keys, the one that Enter gives in brackets.
  private func answers(to question: Question) -> [SafeText] {
    let keys =
      [nil, model.keys.key(for: .confirm, in: .confirm)?.description]
      + [model.keys.key(for: .decline, in: .confirm)?.description]
    return zip(question.answers, keys).map { answer, key -> SafeText in
      let name = Self.name(of: answer)
      if answer == model.answer { return "[" + name + "]" }
      return key.map { SafeText(untrusted: $0) + " " + name } ?? name
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

  /// What is not finished when leaving now.
  private var openEnds: SafeText {
    let typed = model.unsentDrafts.count + model.unsentComments.count
    let pending = model.pendingWrites
    var parts: [SafeText] = []
    if typed > 0 {
      parts.append(Self.count(typed, "unsent text is kept.", "unsent texts are kept."))
    }
    if pending > 0 {
      parts.append(Self.count(pending, "write is unacknowledged.", "writes are unacknowledged."))
    }
    return parts.joined(separator: " ")
  }
}
