package import BlogModel

package enum Question: Hashable, Sendable {
  case delete(BlogAction)
  case keepDraft
  /// Whether to quit with unsent texts or unacknowledged writes.
  case quit

  /// The possible answers: first the harmless one, then the meaning of "yes", then of "no".
  var answers: [Answer] {
    switch self {
    case .delete: [.cancel, .delete]
    case .keepDraft: [.cancel, .keep, .discard]
    case .quit: [.cancel, .quit]
    }
  }
}

package enum Answer: Hashable, Sendable {
  case cancel
  case delete
  /// The draft is kept for later.
  case keep
  case discard
  /// The program ends; unsent texts are saved to disk.
  case quit
}

/// A question and its selected answer, which Enter gives; at first it is the harmless one.
///
/// The letter of an answer gives it at once; what it destroys can be undone.
struct QuestionScreen: AppScreen {
  static let layer = ScreenLayer.question

  let question: Question
  fileprivate(set) var answer = Answer.cancel

  var fillsContent: Bool { false }

  func context(in session: Session) -> Context { .confirm }

  /// Any other key changes nothing.
  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome { .closed }

  mutating func moveAnswer(by step: Int) {
    let answers = question.answers
    guard let index = answers.firstIndex(of: answer) else { return }
    answer = answers[(index + step + answers.count) % answers.count]
  }

  func draw(on painter: inout Painter) {}

  func drawFooter(on painter: inout Painter) { painter.paint(self) }
}

extension Model {
  package internal(set) var question: Question? {
    get { stack[QuestionScreen.self]?.question }
    set {
      stack[QuestionScreen.self] = nil
      stack[QuestionScreen.self] = newValue.map { QuestionScreen(question: $0) }
    }
  }

  /// The selected answer, which Enter gives.
  package var answer: Answer { stack[QuestionScreen.self]?.answer ?? .cancel }

  mutating func moveAnswer(by step: Int) {
    stack[QuestionScreen.self]?.moveAnswer(by: step)
  }

  /// A click gives an answer; outside the answers it cancels, like any other key.
  mutating func clickInQuestion(_ target: ClickTarget?) -> [Effect] {
    guard case .answer(let chosen)? = target else { return give(.cancel) }
    return give(chosen)
  }

  mutating func give(_ answer: Answer) -> [Effect] {
    guard let asked = question else { return [] }
    question = nil
    switch answer {
    case .cancel: return []
    case .quit: return [.quit]
    case .discard:
      if let draft = composer?.draft { session.writing.add(.discarded(.post(draft))) }
      composer = nil
      session.message = .note("The draft is discarded; \(session.key("undo")) brings it back")
    case .keep:
      if let draft = composer?.draft { session.writing.unsent.keep(draft) }
      composer = nil
      session.message = .note(
        (session.writing.keepProblem == nil
          ? "The draft is kept; " : "The draft is only in this terminal; ") + "\(draftKey) opens it"
      )
    case .delete:
      guard case .delete(let action) = asked else { return [] }
      let isOpenPost = action.comment == nil && openPost?.id == action.post
      let effects = isOpenPost ? closePost() : []
      delete(action)
      return effects
    }
    return []
  }
}

enum QuestionActions {
  static let all: [BoundAction] = [
    BoundAction(.send, keys: ["Enter"], in: [.confirm], help: "the answer in brackets") {
      $0.give($0.answer)
    }
    .hint("answer", rank: 1),
    BoundAction(.next, keys: ["Tab", "Right", "l"], in: [.confirm], help: "the next answer") {
      $0.moveAnswer(by: 1)
    }
    .hint("next", rank: 2),
    BoundAction(
      .previous,
      keys: ["S-Tab", "Left", "h"],
      in: [.confirm],
      help: "the previous answer"
    ) { $0.moveAnswer(by: -1) },
    BoundAction(.yes, keys: ["y"], in: [.confirm], help: "yes") {
      $0.give($0.question?.answers.dropFirst().first ?? .cancel)
    }
    .hint("yes", rank: 3),
    BoundAction(.no, keys: ["n"], in: [.confirm], help: "no; any other key changes nothing") {
      $0.give($0.question?.answers.dropFirst(2).first ?? .cancel)
    }
    .hint("no", rank: 4),
  ]
}
