package import BlogModel

/// The screen of an open post: its text, its comments, and the line in which a comment is written.
extension OpenPost: AppScreen {
  static let layer = ScreenLayer.reading

  static func pick(_ row: Int, in model: inout Model) -> [Effect] {
    model.openPost?.line.isWriting = false
    model.openPost?.select(lineInView: row)
    return []
  }

  func context(in session: Session) -> Context { line.isWriting ? .comment : .post }

  mutating func complete(_ input: Completer.Input, session: inout Session) -> [Effect]? {
    guard line.isWriting,
      let outcome = line.completer.handle(input, in: &line.field)
    else { return nil }
    guard outcome == .changed else { return [] }
    resize(in: session)
    return session.tellTyping(on: self)
  }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    guard line.isWriting else { return .ignored }
    // A second reference to the text would make each key copy its line.
    let before = EditCommand(key)?.step == nil ? line.field : nil
    let count = line.field.count
    let outcome = line.field.handle(key)
    if let kind = line.completer.follow(key, in: line.field) {
      line.completer.offer(session.completions(of: kind, on: self))
    }
    switch outcome {
    case .changed:
      session.noteCut(key, from: count, to: line.field.count, limit: line.field.limit)
      resize(in: session)
      return .taken(session.tellTyping(on: self))
    case .ignored: scrollWhileWriting(key)
    case .moved: if line.field == before { scrollWhileWriting(key) }
    case .submitted: break
    }
    return .taken([])
  }

  /// Vertical keys that leave the comment scroll the post above it.
  private mutating func scrollWhileWriting(_ key: KeyEvent) {
    if key == .up { move(.up) }
    if key == .down { move(.down) }
    if key == .pageUp { move(.pageUp) }
    if key == .pageDown { move(.pageDown) }
  }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {
    line.isWriting = true
    line.field.moveCursor(to: offset)
  }

  /// In the split view, the list scrolls when the pointer is over it.
  func scrolls(over target: ClickTarget?) -> Bool {
    switch target {
    case .list, .post: false
    case .tab, .answer, .action, .completion, .row, .field, nil: true
    }
  }

  mutating func scroll(by direction: Int, session: inout Session) -> [Effect] {
    page(by: wheelStep * direction)
    return []
  }

  mutating func resize(in session: Session) {
    let limit = session.fieldLimit
    line.resize(width: session.postFrame.field.width, limit: limit)
    let room = session.postFrame(fieldHeight: line.height).text.size
    resize(text: room, source: session.sourceView)
  }

  /// Outside the split view, the comment line takes the row of this rule.
  func lowerRule(in session: Session) -> Rect {
    session.isSplit ? Frame(session.size).lowerRule : .zero
  }

  func draw(on painter: inout Painter) {
    painter.paintHeader()
    if painter.session.isSplit {
      painter.paintList()
      painter.paintSplitLine()
    }
    painter.paint(self)
  }

  func drawOverlay(on painter: inout Painter) {
    if line.isWriting { painter.paint(line.completer) }
  }
}

extension Model {
  package internal(set) var openPost: OpenPost? {
    get { stack[OpenPost.self] }
    _modify { yield &stack[OpenPost.self] }
  }

  package var openPostID: PostID? { openPost?.id }
}

extension Session {
  var sourceView: PostLayout.SourceView {
    reading.showsSource ? .raw : .marked(glyphs.repertoire, keepsMarks: !colorsCode)
  }

  /// Whether code has a colour of its own on this terminal.
  var colorsCode: Bool {
    (theme.code.foreground != .standard || theme.code.background != .standard)
      && configuration.colorCount != 0
  }

  /// The largest number of lines that a comment takes while it is written.
  var fieldLimit: Int { max(1, min(8, Frame(size).content.height / 3)) }

  var postFrame: PostFrame { postFrame(fieldHeight: 1) }

  /// The rectangles of the post, above a comment with that many lines.
  func postFrame(fieldHeight: Int) -> PostFrame {
    let frame = Frame(size)
    let textWidth = settings.number(.textWidth)
    return PostFrame(
      frame,
      in: isSplit ? frame.content.cut(left: listRect.width + 1) : frame.content,
      textWidth: textWidth,
      fieldHeight: fieldHeight,
      isBesideList: isSplit
    )
  }

  /// The rectangle of the preview: the selected post next to the list, which has no comment line.
  var previewRect: Rect {
    let text = postFrame.text
    let height = Frame(size).content.height
    return Rect(row: text.row, column: text.column, width: text.width, height: height)
  }
}

// MARK: Opening and closing

extension Model {
  /// Opens a post in front of the list, with its unsent comment.
  mutating func open(_ id: PostID) -> [Effect] {
    guard BlogPaths.isKey(id) else { return session.answer(.failure("There is no post \(id).")) }
    let comment = session.writing.unsent.takeLast(on: id)
    var post = OpenPost(id: id, known: knownPost(id), comment: comment)
    post.hide(session.writing.hidden)
    post.mute(session.reading.lists.muted)
    if let state = session.reading.marks.state { post.noteRead(state, me: session.me.uid) }
    openPost = post
    relayout()
    return [.request(.open(id))]
  }

  /// Returns to the list; an unsent comment is kept with the post.
  mutating func closePost() -> [Effect] {
    guard let open = openPost else { return [] }
    if open.line.hasDraft { session.writing.unsent.keep(open.line.draft, on: open.id) }
    let effects = session.reading.company.endTyping() + markOpenPostRead()
    openPost = nil
    relayout()
    return effects + [.request(.close(open.id))]
  }

  // MARK: Commenting

  /// Whether there is a post to comment on, or otherwise a draft to continue.
  var isCommentingPossible: Bool {
    guard let open = openPost, open.isGone else { return true }
    return !open.line.field.isEmpty || !session.writing.unsent.posts.isEmpty
  }

  /// Begins a comment; on a post that was deleted, opens the saved draft of a post instead.
  mutating func beginComment() -> [Effect] {
    guard let open = openPost, open.isGone, !session.writing.unsent.posts.isEmpty else {
      session.warnWithoutAccount()
      openPost?.line.begin()
      return []
    }
    return openComposer()
  }

  /// Why the comment cannot be sent.
  var reasonAgainstComment: DisabledReason? {
    guard let open = openPost else { return .nothingThere }
    if let goneReason { return goneReason }
    guard open.line.showsText else {
      return .failure("A comment cannot be empty; \(session.key(.back, in: .comment)) goes back")
    }
    return BlogBounds.problem(comment: open.line.field.text).map { .failure($0.description) }
  }

  mutating func sendComment() -> [Effect] {
    guard let open = openPost else { return [] }
    let text = open.line.field.text
    let present = open.line.editing.flatMap { open.comments.text(of: $0.id) }
    if let edited = open.line.editing {
      guard let present else {
        session.message = .failure("The comment is not here yet; send again once it is.")
        openPost?.wanted = edited.id
        return openPost?.takeWishForEarlier().map { [$0] } ?? []
      }
      if present.isLost(to: text, knowing: [edited.text] + open.line.overwrites) {
        let words = "The comment was changed elsewhere meanwhile; send again to overwrite that."
        session.message = .failure(words)
        openPost?.line.overwrites.append(present)
        return []
      }
    }
    let next = session.writing.unsent.takeLast(on: open.id)
    openPost?.line.take(next)
    openPost?.line.isWriting = false
    relayout()
    let effects = session.reading.company.endTyping()
    if let edited = open.line.editing, let present {
      return effects + session.sendEdit(of: edited, on: open.id, text: text, replacing: present)
    }
    let key = session.key(.delete, in: .post)
    session.writing.add(.permanent("A comment cannot be undone; \(key) deletes it"))
    return effects + [.write(.comment(open.id, text: text, answering: open.line.answered))]
  }

  /// Begins to answer the selected comment, or to comment on the post.
  mutating func beginAnswer() {
    let selected = openPost?.selectedComment
    session.warnWithoutAccount()
    openPost?.line.begin(answering: selected)
  }

  /// Replaces the comment by the text from the external editor.
  mutating func takeEdited(_ text: String) {
    guard openPost?.line.isWriting == true else { return }
    openPost?.line.field.replaceText(with: text)
    relayout()
  }

  /// Returns to reading; a half-edited comment stays in the line.
  mutating func leaveComment() -> [Effect] {
    if let open = openPost, open.line.editing?.text == open.line.field.text {
      let next = session.writing.unsent.takeLast(on: open.id)
      openPost?.line.take(next)
    }
    openPost?.line.leave()
    relayout()
    return session.reading.company.endTyping()
  }

  // MARK: The targets of keys

  /// Why nothing can be done with an open post that is not there.
  var goneReason: DisabledReason? { absence.map { .failure($0) } }

  /// The same as a sentence.
  var absence: String? { openPost?.absence(leftWith: session.key(.back, in: .comment)) }

  /// Why an action does not apply without a current post.
  var noPostReason: DisabledReason? { currentPost == nil ? .nothingThere : nil }

  /// The open post, or otherwise the one that is selected in the list.
  var postInView: Post? { openPost?.post ?? session.feed.selectedPost }

  /// Why an action does not apply without a post in view.
  var noPostInViewReason: DisabledReason? { postInView == nil ? .nothingThere : nil }

  /// Why the user cannot change the current post: only its author can.
  func reasonAgainstPost(_ verb: String) -> DisabledReason? {
    guard let post = currentPost else { return .nothingThere }
    guard post.uid != session.me.uid else { return nil }
    let author = session.name(of: post.writer)
    return .failure("Only \(author) can \(verb) this post.")
  }

  /// Why the user cannot change the selected comment or, without one, the post.
  func reasonAgainstSelection(_ verb: String) -> DisabledReason? {
    guard let comment = openPost?.selectedComment else { return reasonAgainstPost(verb) }
    guard comment.uid != session.me.uid else { return nil }
    let author = session.name(of: comment.writer)
    return .failure("Only \(author) can \(verb) this comment.")
  }

  /// Asks before deleting the selected comment or, without one, the open post.
  mutating func askToDeleteSelection() {
    guard let open = openPost else { return }
    let comment = open.selectedComment.map(\.id)
    question = .delete(
      comment.map { .deleteComment(open.id, commentID: $0) } ?? .deletePost(open.id)
    )
  }

  /// Copies the selected comment or, without one, the post.
  mutating func copySelection() -> [Effect] {
    if let comment = openPost?.selectedComment {
      session.message = .note("The comment is copied")
      return [.terminal(.copy(comment.text))]
    }
    guard let post = postInView else { return [] }
    session.message = .note("The post is copied")
    return [.terminal(.copy(post.title + "\n\n" + post.body + "\n"))]
  }
}

extension Session {
  /// Reports what did not fit, since silent truncation would lose text.
  mutating func noteCut(_ key: KeyEvent, from before: Int, to after: Int, limit: Int) {
    guard let cut = Message.cut(key, from: before, to: after, limit: limit) else { return }
    message = cut
  }

  /// Handles a key in a line, and reports what did not fit.
  mutating func type(_ key: KeyEvent, into field: inout TextField) -> EditOutcome {
    let before = field.count
    let outcome = field.handle(key)
    noteCut(key, from: before, to: field.count, limit: field.limit)
    return outcome
  }

  // MARK: Typing

  /// Tells others that the user is typing, at a limited rate.
  mutating func tellTyping(on open: OpenPost) -> [Effect] {
    guard settings.isOn(.sendTyping) else { return [] }
    guard open.line.isWriting, open.line.editing == nil, open.line.showsText else {
      return reading.company.endTyping()
    }
    return reading.company.type(on: open.id, at: now)
  }
}

enum PostActions {
  static let motions = BoundAction.motions(
    in: .post,
    hints: [.pageDown: ("page", 6)]
  ) { model, motion in
    model.openPost?.move(motion)
    return []
  }

  static let all: [BoundAction] = [
    BoundAction(
      .comment,
      keys: ["c", "i", "Enter", "Tab"],
      in: [.post],
      help: "comment; on a deleted post, go on with the last draft"
    ) { $0.beginComment() }
    .hint("comment", rank: 3)
    .unless { $0.isCommentingPossible ? nil : $0.goneReason },
    BoundAction("answer", keys: ["r"], in: [.post], help: "answer the selected comment") {
      $0.beginAnswer()
    }
    .hint("answer", rank: 8)
    .unless { $0.goneReason },
    BoundAction(
      "fold",
      keys: ["z"],
      in: [.post],
      help: "hide or show the answers to the selected comment"
    ) { model -> Void in
      if model.openPost?.toggleFold() != true {
        model.session.message = .notDone("No answers here: select a comment that has some")
      }
    },
    BoundAction("fold-all", keys: ["Z"], in: [.post], help: "hide or show all answers") {
      model -> Void in
      if model.openPost?.toggleFolds() != true {
        model.session.message = .notDone("No comment here has answers")
      }
    },
    BoundAction(
      "earlier",
      keys: ["<"],
      in: [.post],
      help: "load earlier comments"
    ) { model in
      model.session.message = .loadingEarlier
      return model.openPost.map { [.request(.showEarlierComments($0.id))] } ?? []
    }
    .unless { model in
      guard let comments = model.openPost?.comments, comments.areLoaded else {
        return .note("The comments are not here yet")
      }
      return comments.hasEarlier ? nil : .note("All comments are here")
    },
    BoundAction(
      "raw",
      keys: ["R"],
      in: .reading,
      help: "show text as written or with its markup"
    ) { model -> Void in
      model.session.reading.showsSource.toggle()
      model.relayout()
      let isRaw = model.session.reading.showsSource
      model.session.message = .note(
        isRaw ? "Texts are shown as they were written" : "Texts are shown with their markup"
      )
    },
    BoundAction(
      .back,
      keys: ["q", "Esc", "h", "Left", "^C"],
      in: [.post],
      help: "back to the list"
    ) { $0.closePost() }
    .hint("back", rank: 2),
  ]
}

enum CommentActions {
  static let all: [BoundAction] = [
    BoundAction("new-line", keys: ["Alt-Enter", "^J"], in: [.comment], help: "a new line") {
      model -> Void in
      _ = model.openPost?.line.field.handle(.enter)
      model.relayout()
    }
    .hint("new line", rank: 4),
    BoundAction(.send, keys: ["Enter", "^S", "^X"], in: [.comment], help: "send the comment") {
      $0.sendComment()
    }
    .hint("send", rank: 2)
    .unless { $0.reasonAgainstComment },
    BoundAction(.back, keys: ["Esc", "^C", "Tab"], in: [.comment], help: "back; the text stays") {
      $0.leaveComment()
    }
    .hint("back, the text stays", rank: 3),
  ]
}
