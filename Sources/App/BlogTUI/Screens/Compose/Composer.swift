package import BlogModel

/// The form in which a post is written.
package struct Composer: Equatable, Sendable {
  package enum Field: Hashable, Sendable {
    case title
    case body
  }

  package internal(set) var title: TextField
  package internal(set) var body: TextArea
  /// What completes the word at the cursor of the text.
  private var completer = Completer()
  package internal(set) var focus = Field.title
  /// The problem with the draft, or why it was refused.
  package internal(set) var problem: SafeText?

  /// The post that is being edited, as it was before; nil for a new one.
  package let editing: Post?
  /// The texts from elsewhere that the user knows of: sending the form again overwrites them.
  var overwrites: [String] = []
  /// What was in the form when it was opened.
  private var start = Draft(title: "", body: "")

  init(_ draft: Draft) {
    editing = draft.editing
    title = TextField(text: draft.title, limit: EditorLimit.characters)
    body = TextArea(text: draft.body, limit: EditorLimit.characters)
    problem = draft.problem.map { SafeText(untrusted: $0, limit: 1_200) }
    focus = draft.title.isEmpty ? .title : .body
    start = self.draft
  }

  /// Makes a form with one of the user's posts to edit.
  init(editing post: Post) {
    self.init(Draft(title: post.title, body: post.body, editing: post))
  }

  /// The text typed so far.
  package var draft: Draft { Draft(title: title.text, body: body.text, editing: editing) }

  /// Whether the form has what it was opened with.
  var isUnchanged: Bool { draft == start }

  /// Whether there is nothing to keep: an empty new post, or the post as it is.
  var isIdle: Bool {
    guard let editing else { return draft.isEmpty }
    // The form leaves out what cannot be shown, in the post as well.
    return draft == Composer(editing: editing).start
  }

  /// What the form changes of a post; nil is what stays.
  ///
  /// The form sanitises some characters, so fields are compared as it shows them.
  func changes(to post: Post) -> (title: String?, body: String?) {
    let shown = Composer(editing: post)
    return (
      title.text == shown.title.text ? nil : title.text,
      body.text == shown.body.text ? nil : body.text
    )
  }

  mutating func switchField() {
    focus = focus == .title ? .body : .title
  }

  /// Updates the draft from the external editor.
  mutating func take(_ draft: Draft) {
    title.replaceText(with: draft.title)
    body.replaceText(with: draft.body)
    problem = nil
  }

  /// Checks the draft before sending; a field with a problem gets the focus.
  mutating func findProblem() -> SafeText? {
    guard let found = BlogBounds.problem(title: title.text, body: body.text) else { return nil }
    focus = found.field == .title ? .title : .body
    problem = SafeText(untrusted: found.description, mode: .singleLine)
    return problem
  }
}

extension Composer: AppScreen {
  static let layer = ScreenLayer.form

  func context(in session: Session) -> Context { .compose }

  mutating func complete(_ input: Completer.Input, session: inout Session) -> [Effect]? {
    guard focus == .body, let outcome = completer.handle(input, in: &body) else { return nil }
    if outcome == .changed { problem = nil }
    return []
  }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    switch focus {
    case .title:
      if key == .down || key == .enter {
        switchField()
        break
      }
      if session.type(key, into: &title) == .changed { problem = nil }
    case .body:
      let before = key == .up ? body.cursor : nil
      let count = body.count
      let outcome = body.handle(key)
      if outcome == .changed {
        problem = nil
        session.noteCut(key, from: count, to: body.count, limit: body.limit)
      } else if body.cursor == before {
        switchField()
      }
      if let kind = completer.follow(key, in: body) {
        completer.offer(session.completions(of: kind))
      }
    }
    return .taken([])
  }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {
    focus = field == 0 ? .title : .body
    switch focus {
    case .title: title.moveCursor(toColumn: offset.column)
    case .body: body.moveCursor(to: offset)
    }
  }

  mutating func scroll(by direction: Int, session: inout Session) -> [Effect] {
    _ = body.handle(direction < 0 ? .up : .down)
    return []
  }

  mutating func resize(in session: Session) {
    let frame = session.composeFrame
    title.resize(to: frame.title.size)
    body.resize(to: frame.body.size)
  }

  func draw(on painter: inout Painter) { painter.paint(self) }

  func drawOverlay(on painter: inout Painter) {
    if focus == .body { painter.paint(completer) }
  }

  /// On a screen with few rows, the problem has no row of its own and goes into the footer.
  func drawFooter(on painter: inout Painter) {
    if let problem, painter.session.composeFrame.problem.isEmpty {
      painter.paintText(problem, style: painter.theme.failure)
    } else {
      painter.paintHints()
    }
  }
}

extension Session {
  /// Tells those who read without an account so before they write, since it will be refused.
  mutating func warnWithoutAccount() {
    guard connection.isWithoutAccount else { return }
    let key = key("account")
    message = .failure("You are reading without an account; \(key) on the list signs in.")
  }

  var composeFrame: ComposeFrame {
    ComposeFrame(Frame(size), textWidth: settings.number(.textWidth))
  }
}

extension Model {
  /// The form for a post, in front of the list.
  package internal(set) var composer: Composer? {
    get { stack[Composer.self] }
    _modify { yield &stack[Composer.self] }
  }

  /// Opens the form, with the latest draft if there is one.
  mutating func openComposer() -> [Effect] {
    session.warnWithoutAccount()
    return compose(session.writing.unsent.posts.popLast() ?? Draft(title: "", body: ""))
  }

  /// Opens the form with a draft; behind the draft of an edit, its post is opened.
  mutating func compose(_ draft: Draft) -> [Effect] {
    var effects: [Effect] = []
    if let post = draft.editing, openPost?.id != post.id {
      // Only an open post tells whether it still exists.
      effects = closePost() + open(post.id)
    }
    composer = Composer(draft)
    relayout()
    return effects
  }

  mutating func sendPost() -> [Effect] {
    guard composer?.findProblem() == nil, let form = composer, !holdsBack(form) else { return [] }
    composer = nil
    let draft = form.draft
    if let edited = form.editing {
      return sendEdit(of: edited, form)
    }
    let key = session.key(.delete)
    session.writing.add(.permanent("A post cannot be undone; \(key) deletes it"))
    return [.write(.post(title: draft.title, body: draft.body))]
  }

  /// Closes the form, or asks what to do with the draft.
  mutating func leaveComposer() {
    guard let form = composer else { return }
    if form.isIdle {
      composer = nil
    } else if form.isUnchanged {
      // It was a draft before, and still is one.
      session.writing.unsent.keep(form.draft)
      composer = nil
    } else {
      question = .keepDraft
    }
  }

  mutating func takeEdited(_ draft: Draft) {
    guard composer != nil else { return }
    composer?.take(draft)
    relayout()
  }
}

enum ComposeActions {
  static let all: [BoundAction] = [
    BoundAction(.send, keys: ["^S", "^X"], in: [.compose], help: "post") { $0.sendPost() }
      .hint("post", rank: 2),
    BoundAction("switch-field", keys: ["Tab", "S-Tab"], in: [.compose], help: "title or text") {
      $0.composer?.switchField()
    }
    .hint("title/text", rank: 4),
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.compose],
      help: "back; what was typed can be kept"
    ) { $0.leaveComposer() }
    .hint("back", rank: 3),
  ]
}
