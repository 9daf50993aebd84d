package import BlogModel

/// A question that has to be answered before anything else can be done.
package enum Question: Hashable, Sendable {
  /// Whether the post is to be deleted.
  case deletePost(PostID)
  /// Whether the comment is to be deleted.
  case deleteComment(PostID, commentID: String)
  /// Whether what was typed into the form is to be kept.
  case keepDraft
  /// Whether to leave although something is not sent or not acknowledged.
  case quit

  /// What can be answered: first what changes nothing, then what "yes" means, then "no".
  var answers: [Answer] {
    switch self {
    case .deletePost, .deleteComment: [.cancel, .delete]
    case .keepDraft: [.cancel, .keep, .discard]
    case .quit: [.cancel, .quit]
    }
  }
}

/// What can be answered to a question.
package enum Answer: Hashable, Sendable {
  /// Nothing changes.
  case cancel
  /// What was asked about disappears.
  case delete
  /// What was typed is kept for later.
  case keep
  /// What was typed is thrown away.
  case discard
  /// The program ends; what was typed is kept on disk.
  case quit

  /// Whether something is gone afterwards; such an answer never comes from one key alone.
  var isDestructive: Bool {
    switch self {
    case .delete, .discard: true
    case .cancel, .keep, .quit: false
    }
  }
}

/// A question and the answer in front, which Enter gives; it begins with what changes nothing.
///
/// A key that stands for a destructive answer only brings it to the front, so that no key does harm
/// however often it is hit.
struct QuestionScreen: AppScreen {
  static let layer = ScreenLayer.question

  let question: Question
  fileprivate(set) var answer = Answer.cancel

  init(_ question: Question) {
    self.question = question
  }

  var fillsContent: Bool { false }

  func context(in session: Session) -> Context { .confirm }

  /// Any other key changes nothing.
  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome { .closed }

  /// Brings another answer to the front.
  mutating func moveAnswer(by step: Int) {
    let answers = question.answers
    guard let index = answers.firstIndex(of: answer) else { return }
    answer = answers[(index + step + answers.count) % answers.count]
  }

  func draw(on painter: inout Painter) {}

  func drawFooter(on painter: inout Painter) { painter.paint(self) }
}

extension Model {
  /// The question that has to be answered.
  package internal(set) var question: Question? {
    get { stack[QuestionScreen.self]?.question }
    set {
      stack[QuestionScreen.self] = nil
      stack[QuestionScreen.self] = newValue.map { QuestionScreen($0) }
    }
  }

  /// The answer in front, which Enter gives.
  package var answer: Answer { stack[QuestionScreen.self]?.answer ?? .cancel }

  mutating func moveAnswer(by step: Int) {
    stack[QuestionScreen.self]?.moveAnswer(by: step)
  }

  /// Gives an answer, or only shows it in front if something would be gone; nil changes nothing.
  mutating func choose(_ chosen: Answer?) -> [Effect] {
    guard let chosen, chosen.isDestructive else { return give(chosen ?? .cancel) }
    stack[QuestionScreen.self]?.answer = chosen
    return []
  }

  /// A click on an answer gives it; what would be gone needs another click once it is in front.
  ///
  /// A click beside the answers changes nothing, like any other key.
  mutating func clickInQuestion(_ target: ClickTarget?) -> [Effect] {
    guard case .answer(let chosen)? = target else { return give(.cancel) }
    return chosen == answer ? give(chosen) : choose(chosen)
  }

  /// Does what the answer means for what was asked.
  mutating func give(_ answer: Answer) -> [Effect] {
    guard let asked = question else { return [] }
    question = nil
    switch answer {
    case .cancel: return []
    case .quit: return leaveForGood()
    case .discard: composer = nil
    case .keep:
      if let draft = composer?.draft { session.drafts.append(draft) }
      composer = nil
      session.message = .note("The draft is kept: c opens it again.")
    case .delete: return deleteWhatWasAsked(asked)
    }
    return []
  }

  private mutating func deleteWhatWasAsked(_ asked: Question) -> [Effect] {
    switch asked {
    case .deletePost(let id):
      let effects = openPost?.id == id ? closePost() : []
      delete(.post(id))
      return effects
    case .deleteComment(let id, let comment):
      delete(.comment(id, commentID: comment))
      return []
    case .keepDraft, .quit: return []
    }
  }
}
