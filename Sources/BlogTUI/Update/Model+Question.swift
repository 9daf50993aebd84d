import BlogModel

extension Model {
  mutating func performInQuestion(_ action: Action) -> [Effect] {
    switch action {
    case .confirm: return confirm()
    case .decline:
      if question == .keepDraft { composer = nil }
      question = nil
    case .up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .top, .bottom, .open, .back,
      .quit, .tab, .nextTab, .previousTab, .compose, .star, .delete, .search, .nextMatch,
      .previousMatch, .writeComment, .send, .switchField, .reload, .help, .redraw, .suspend,
      .reading, .program:
      question = nil
    }
    return []
  }

  /// Does what was asked about.
  mutating func confirm() -> [Effect] {
    guard let asked = question else { return [] }
    question = nil
    switch asked {
    case .quit:
      return leaveForGood()
    case .keepDraft:
      if let draft = composer?.draft { drafts.append(draft) }
      composer = nil
      message = .note("The draft is kept: c opens it again.")
      return []
    case .deletePost(let id):
      let effects = openPost?.id == id ? closePost() : []
      delete(.post(id))
      return effects
    case .deleteComment(let id, let comment):
      delete(.comment(id, commentID: comment))
      return []
    }
  }
}
