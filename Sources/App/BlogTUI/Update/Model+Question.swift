import BlogModel

/// Questions and their answers.
///
/// What changes nothing is in front, and Enter gives the answer in front. A key that stands for a
/// destructive answer only brings it to the front, so that no key does harm however often it is hit.
extension Model {
  /// Gives an answer, or only shows it in front if something would be gone; nil changes nothing.
  mutating func choose(_ chosen: Answer?) -> [Effect] {
    guard let chosen, chosen.isDestructive else { return give(chosen ?? .cancel) }
    answer = chosen
    return []
  }

  /// Takes a click on an answer; what would be gone needs another click once it is in front.
  mutating func click(_ chosen: Answer) -> [Effect] {
    chosen == answer ? give(chosen) : choose(chosen)
  }

  mutating func moveAnswer(by step: Int) {
    guard let answers = question?.answers, let place = answers.firstIndex(of: answer) else {
      return
    }
    answer = answers[(place + step + answers.count) % answers.count]
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
      if let draft = composer?.draft { drafts.append(draft) }
      composer = nil
      message = .note("The draft is kept: c opens it again.")
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
