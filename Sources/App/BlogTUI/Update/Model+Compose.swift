import BlogModel

extension Model {
  /// What is said about a post without a title or without a text.
  static let emptyPostProblem: SafeText = "Neither title nor body can be empty."

  /// Opens the form, with the last draft if there is one.
  mutating func openComposer() {
    composer = Composer(drafts.popLast() ?? Draft(title: "", body: ""))
    relayout()
  }

  mutating func typeIntoComposer(_ key: KeyEvent) {
    guard let before = composer else { return }
    switch before.focus {
    case .title:
      if key == .down || key == .enter { return composer?.switchField() ?? () }
      guard let outcome = composer?.title.handle(key), let title = composer?.title else { return }
      if outcome == .changed {
        composer?.problem = nil
        noteCut(key, from: before.title.text.count, to: title.text.count, limit: title.limit)
      }
    case .body:
      guard let outcome = composer?.body.handle(key), let body = composer?.body else { return }
      if outcome == .changed {
        composer?.problem = nil
        noteCut(key, from: before.body.count, to: body.count, limit: body.limit)
      } else if key == .up, body == before.body {
        composer?.switchField()
      }
    }
  }

  mutating func sendPost() -> [Effect] {
    guard let draft = composer?.draft else { return [] }
    guard !Self.isBlank(draft.title), !Self.isBlank(draft.body) else {
      composer?.problem = Self.emptyPostProblem
      composer?.focus = Self.isBlank(draft.title) ? .title : .body
      return []
    }
    if let problem = PostLimits.problem(title: draft.title, body: draft.body) {
      composer?.problem = problem
      return []
    }
    let edited = composer?.editing
    composer = nil
    if let edited { return sendEdit(of: edited, title: draft.title, body: draft.body) }
    return [.post(title: draft.title, body: draft.body)]
  }

  mutating func leaveComposer() {
    if composer?.draft.isEmpty == true {
      composer = nil
    } else {
      question = .keepDraft
    }
  }

  /// Gives a post back that the database refused; what is typed just now is not touched.
  mutating func restore(title: String, body: String, reason: String) {
    let problem = "Not saved: \(Self.clause(reason)). Change it, or send it again."
    let draft = Draft(title: title, body: body, problem: problem)
    // Nothing is taken away from someone who types, reads or answers just now.
    if composer?.draft.isEmpty == true || context == .list {
      composer = Composer(draft)
      relayout()
      explain(problem)
      return
    }
    drafts.append(draft)
    let name = SafeText(untrusted: title).truncated(to: 30, ellipsis: glyphs.ellipsis).string
    message = .failure(
      "Your post \"\(name)\" was not saved: \(Self.clause(reason)). It is kept: c opens it."
    )
  }

  /// Keeps what the form says is wrong with the messages, and shows all of it if it has no room there.
  private mutating func explain(_ problem: String) {
    let failure = Message.failure(problem)
    if failure.text.width > composeFrame.problem.width - 2 {
      message = failure
    } else {
      messageLog.add(failure, at: now)
    }
  }

  /// A reason as part of a sentence, without the period at its end.
  static func clause(_ reason: String) -> String {
    let text = SafeText(untrusted: reason, limit: 1_000).string
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
