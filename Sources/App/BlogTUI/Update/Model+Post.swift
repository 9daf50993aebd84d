import BlogModel

extension Model {
  mutating func performInPost(_ action: Action) -> [Effect] {
    let capacity = openPost?.capacity ?? 1
    switch action {
    case .up: openPost?.moveUp()
    case .down: openPost?.moveDown()
    case .pageUp: openPost?.page(by: -capacity)
    case .pageDown: openPost?.page(by: capacity)
    case .halfPageUp: openPost?.page(by: -max(1, capacity / 2))
    case .halfPageDown: openPost?.page(by: max(1, capacity / 2))
    case .top: openPost?.moveToTop()
    case .bottom: openPost?.moveToBottom()
    case .writeComment: openPost?.isWriting = true
    case .star: return openPost?.isGone == true ? refuseGone() : star(openPost?.post)
    case .delete: return deleteInPost()
    case .tab(let kind): return closePost() + select(tab: kind)
    case .back, .quit: return closePost()
    case .reading(let action): return performWhileReading(action)
    case .open, .nextTab, .previousTab, .compose, .search, .nextMatch, .previousMatch, .send,
      .switchField, .confirm, .decline, .reload, .help, .redraw, .suspend, .program:
      break
    }
    return []
  }

  mutating func performInComment(_ action: Action) -> [Effect] {
    switch action {
    case .send: return sendComment()
    case .back, .quit:
      leaveComment()
      return endTyping()
    case .up, .down, .pageUp, .pageDown, .halfPageUp, .halfPageDown, .top, .bottom, .open, .tab,
      .nextTab, .previousTab, .compose, .star, .delete, .search, .nextMatch, .previousMatch,
      .writeComment, .switchField, .confirm, .decline, .reload, .help, .redraw, .suspend,
      .reading, .program:
      break
    }
    return []
  }

  mutating func typeIntoComment(_ key: KeyEvent) -> [Effect] {
    let before = openPost?.field.text.count ?? 0
    let outcome = openPost?.field.handle(key)
    if outcome == .changed, let field = openPost?.field {
      noteCut(key, from: before, to: field.text.count, limit: field.limit)
      return tellTyping()
    }
    if outcome == .ignored { scrollWhileWriting(key) }
    return []
  }

  /// The line has no use for keys that go up and down, so they move what is above it.
  private mutating func scrollWhileWriting(_ key: KeyEvent) {
    let capacity = openPost?.capacity ?? 1
    if key == .up { openPost?.moveUp() }
    if key == .down { openPost?.moveDown() }
    if key == .pageUp { openPost?.page(by: -capacity) }
    if key == .pageDown { openPost?.page(by: capacity) }
  }

  /// Says so when a paste did not fit; a silent cut would lose text.
  mutating func noteCut(_ key: KeyEvent, from before: Int, to after: Int, limit: Int) {
    guard case .paste(let text) = key, after == limit, after - before < text.count else { return }
    message = .failure("The paste was cut: this field takes \(limit) characters.")
  }

  private mutating func sendComment() -> [Effect] {
    guard let open = openPost else { return [] }
    if open.isGone { return refuseGone() }
    let text = open.field.text
    guard !Self.isBlank(text) else {
      message = .failure("A comment cannot be empty. Esc goes back.")
      return []
    }
    if let problem = PostLimits.problem(comment: text) {
      message = .failure(problem)
      return []
    }
    let next = takeCommentDraft(open.id) ?? ""
    openPost?.field.setText(next)
    openPost?.isWriting = false
    openPost?.editing = nil
    let effects = endTyping()
    if let edited = open.editing {
      return effects + sendEdit(of: edited, on: open.id, text: text)
    }
    return effects + [.comment(open.id, text: text)]
  }

  /// Back to reading; a change that was begun can be gone on with.
  private mutating func leaveComment() {
    openPost?.isWriting = false
    guard let open = openPost, open.editing?.text == open.field.text else { return }
    let next = takeCommentDraft(open.id) ?? ""
    openPost?.editing = nil
    openPost?.field.setText(next)
  }

  private mutating func refuseGone() -> [Effect] {
    message = .failure("This post was deleted. What you typed stays here; Esc goes back.")
    return []
  }

  private mutating func deleteInPost() -> [Effect] {
    guard let open = openPost else { return [] }
    if open.isGone { return refuseGone() }
    guard let comment = open.selectedComment else {
      askToDelete(open.post)
      return []
    }
    if comment.uid == me.uid {
      question = .deleteComment(open.id, commentID: comment.id)
    } else {
      message = .failure("Only \(name(of: comment.uid, comment.author)) can delete this comment.")
    }
    return []
  }

  /// Back to the list; a comment that was begun comes back with the post.
  mutating func closePost() -> [Effect] {
    guard let open = openPost else { return [] }
    if !open.field.isEmpty, open.editing?.text != open.field.text {
      commentDrafts[open.id, default: []].append(open.field.text)
    }
    let effects = endTyping() + markOpenPostRead()
    openPost = nil
    relayout()
    return effects + [.close(open.id)]
  }

  /// The comment on the post that was typed or came back last.
  mutating func takeCommentDraft(_ id: PostID) -> String? {
    let draft = commentDrafts[id]?.popLast()
    if commentDrafts[id]?.isEmpty == true { commentDrafts[id] = nil }
    return draft
  }

  /// Stars or unstars; twice in a row is there and back, even before the first is known.
  mutating func star(_ post: Post?) -> [Effect] {
    guard let post else { return [] }
    let isStarred = !(starIntents[post.id] ?? post.stars.contains(me.uid))
    starIntents[post.id] = isStarred
    reading.add(.star(post.id, isStarred))
    note(post.id)
    return [.star(post.id, isStarred)]
  }

  /// Asks before a post of mine is deleted, and says why others cannot be.
  mutating func askToDelete(_ post: Post?) {
    guard let post else { return }
    if post.uid == me.uid {
      question = .deletePost(post.id)
    } else {
      message = .failure("Only \(name(of: post.uid, post.author)) can delete this post.")
    }
  }

  /// A name as it is shown: with a mark of the account where another one could be taken for it.
  func shownName(of uid: String, _ name: String) -> SafeText {
    let shown = names.shown(Author(uid: uid, name: name))
    return SafeText(untrusted: shown, limit: SafeText.nameLimit)
  }

  /// A name as part of a sentence.
  func name(of uid: String, _ name: String) -> String { shownName(of: uid, name).string }

  /// Whether a reader would see nothing.
  static func isBlank(_ text: String) -> Bool {
    SafeText(untrusted: text, mode: .multiLine, limit: .max).clusters.allSatisfy(\.isSpace)
  }
}
