import BlogModel

extension Model {
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
    if key == .up { openPost?.move(.up) }
    if key == .down { openPost?.move(.down) }
    if key == .pageUp { openPost?.move(.pageUp) }
    if key == .pageDown { openPost?.move(.pageDown) }
  }

  /// Says so when a paste did not fit; a silent cut would lose text.
  mutating func noteCut(_ key: KeyEvent, from before: Int, to after: Int, limit: Int) {
    guard case .paste(let text) = key, after == limit, after - before < text.count else { return }
    message = .failure("The paste was cut: this field takes \(limit) characters.")
  }

  /// Why the comment that is written cannot be sent.
  var obstacleToComment: Obstacle? {
    guard let open = openPost else { return .nothingThere }
    if open.isGone { return Self.goneObstacle }
    guard !Self.isBlank(open.field.text) else {
      return .failure("A comment cannot be empty. Esc goes back.")
    }
    return PostLimits.problem(comment: open.field.text).map { .failure($0) }
  }

  mutating func sendComment() -> [Effect] {
    guard let open = openPost else { return [] }
    let text = open.field.text
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
  mutating func leaveComment() {
    openPost?.isWriting = false
    guard let open = openPost, open.editing?.text == open.field.text else { return }
    let next = takeCommentDraft(open.id) ?? ""
    openPost?.editing = nil
    openPost?.field.setText(next)
  }

  /// Why nothing can be done with a post that was deleted.
  static let goneObstacle = Obstacle.failure(
    "This post was deleted. What you typed stays here; Esc goes back."
  )

  /// Why nothing can be done with the post that keys act on: there is none.
  var noPostObstacle: Obstacle? { currentPost == nil ? .nothingThere : nil }

  /// Why nothing can be done with the open post or the one selected behind it: there is none.
  var noPostInViewObstacle: Obstacle? {
    openPost?.post == nil && feed.selectedPost == nil ? .nothingThere : nil
  }

  /// Why I cannot do that to the post that keys act on: only its author can.
  func obstacleToPost(_ verb: String) -> Obstacle? {
    guard let post = currentPost else { return .nothingThere }
    guard post.uid != me.uid else { return nil }
    return .failure("Only \(name(of: post.uid, post.author)) can \(verb) this post.")
  }

  /// Why I cannot do that to the selected comment, or else to the post.
  func obstacleToSelection(_ verb: String) -> Obstacle? {
    guard let comment = openPost?.selectedComment else { return obstacleToPost(verb) }
    guard comment.uid != me.uid else { return nil }
    return .failure("Only \(name(of: comment.uid, comment.author)) can \(verb) this comment.")
  }

  /// Asks before my selected comment, or else my open post, is deleted.
  mutating func askToDeleteSelection() {
    guard let open = openPost else { return }
    question =
      open.selectedComment.map { .deleteComment(open.id, commentID: $0.id) } ?? .deletePost(open.id)
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
  mutating func star(_ post: Post) -> [Effect] {
    let isStarred = !(starIntents[post.id] ?? post.stars.contains(me.uid))
    starIntents[post.id] = isStarred
    reading.add(.star(post.id, isStarred))
    note(post.id)
    return [.star(post.id, isStarred)]
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
