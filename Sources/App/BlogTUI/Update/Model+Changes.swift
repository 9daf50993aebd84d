import BlogModel

/// Changing, deleting, and taking back.
extension Model {
  /// The latest time that counts as one, in milliseconds since 1970.
  private static let latestTime: Int64 = 1 << 53

  /// Lets time pass: some signs are over, and what is due is deleted.
  mutating func pass(to time: Int64) -> [Effect] {
    // Nothing that is counted from a time may be more than a number can hold.
    now = max(-Self.latestTime, min(time, Self.latestTime))
    for (id, delivery) in reading.deliveries where delivery.isOver(now: now) {
      reading.deliveries[id] = nil
    }
    return carryOutDeletions(until: now)
  }

  // MARK: Taking back

  /// Takes the last change back.
  mutating func undo() -> [Effect] {
    guard let change = reading.changes.popLast() else { return [] }
    switch change {
    case .star(let id, let isStarred):
      starIntents[id] = !isStarred
      note(id)
      message = .note(isStarred ? "The star is taken back." : "The star is back.")
      return [.star(id, !isStarred)]
    case .edit(let id, let title, let body):
      note(id)
      message = .note("The post is as it was before.")
      return [.edit(id, title: title, body: body)]
    case .editComment(let post, let comment, let text):
      note(comment)
      message = .note("The comment is as it was before.")
      return [.editComment(post, commentID: comment, text: text)]
    case .deletion(let subject):
      reading.deletions.removeAll { $0.subject == subject }
      hiddenChanged()
      if case .post(let id) = subject { feed.list.select(id) }
      message = .note("Nothing was deleted.")
      return []
    }
  }

  // MARK: Deleting

  /// Hides something of mine at once and deletes it when the time to take that back is over.
  mutating func delete(_ subject: Deletion.Subject) {
    let deletion = Deletion(subject: subject, deadline: now + Deletion.delay)
    reading.deletions.append(deletion)
    reading.add(.deletion(subject))
    hiddenChanged()
    let seconds = Deletion.delay / 1_000
    message = .note("It is deleted in \(seconds) seconds; u takes that back.")
  }

  /// Deletes what can no longer be taken back.
  mutating func carryOutDeletions(until time: Int64) -> [Effect] {
    var effects: [Effect] = []
    for (index, deletion) in reading.deletions.enumerated() {
      guard !deletion.isSent, deletion.deadline <= time else { continue }
      reading.deletions[index].isSent = true
      reading.changes.removeAll { $0 == .deletion(deletion.subject) }
      effects.append(deletion.effect)
    }
    return effects
  }

  /// Shows what was hidden again when the database has answered.
  private mutating func endDeletion(_ id: String) {
    guard reading.deletions.contains(where: { $0.isSent && $0.id == id }) else { return }
    reading.deletions.removeAll { $0.isSent && $0.id == id }
    hiddenChanged()
  }

  /// Shows and hides posts and comments as the deletions say.
  private mutating func hiddenChanged() {
    refilter()
    openPost?.hide(reading.hidden)
  }

  // MARK: Changing

  /// Opens what I wrote for a change.
  mutating func edit() {
    if let comment = openPost?.selectedComment { return edit(comment) }
    guard let post = currentPost else { return }
    composer = Composer(Draft(title: post.title, body: post.body), editing: post)
    relayout()
  }

  private mutating func edit(_ comment: Comment) {
    guard let open = openPost else { return }
    if open.editing == nil, !open.field.isEmpty {
      commentDrafts[open.id, default: []].append(open.field.text)
    }
    openPost?.editing = comment
    openPost?.field.setText(comment.text)
    openPost?.isWriting = true
  }

  /// Writes the changed post.
  mutating func sendEdit(of post: Post, title: String, body: String) -> [Effect] {
    // The form shows some characters in another way; what was not touched stays as it was.
    let shown = Composer(Draft(title: post.title, body: post.body))
    let title = title == shown.title.text ? post.title : title
    let body = body == shown.body.text ? post.body : body
    guard title != post.title || body != post.body else {
      message = .note("Nothing was changed.")
      return []
    }
    guard isPresent(post.id) else {
      drafts.append(Draft(title: title, body: body))
      message = .failure("This post was deleted meanwhile. Your text is kept: c opens it.")
      return []
    }
    reading.add(.edit(post.id, title: post.title, body: post.body))
    note(post.id)
    message = .note("The post is changed; u takes that back.")
    return [.edit(post.id, title: title, body: body)]
  }

  /// Whether a post of a list is still there, as far as that is known here.
  private func isPresent(_ id: PostID) -> Bool {
    if let openPost, openPost.id == id { return !openPost.isGone }
    return knownPost(id) != nil
  }

  /// Writes the changed comment.
  mutating func sendEdit(of comment: Comment, on post: PostID, text: String) -> [Effect] {
    guard text != comment.text else {
      message = .note("Nothing was changed.")
      return []
    }
    reading.add(.editComment(post, commentID: comment.id, text: comment.text))
    note(comment.id)
    message = .note("The comment is changed; u takes that back.")
    return [.editComment(post, commentID: comment.id, text: text)]
  }

  // MARK: Deliveries

  /// Notes that something of mine is on its way.
  mutating func note(_ id: String) {
    reading.deliveries[id] = connection == .online ? .sent : .local
  }

  /// Notes how something of mine ended.
  mutating func note(_ action: BlogAction, succeeded: Bool) {
    let id: String
    switch action {
    case .post(let post, _, _), .star(let post, _), .edit(let post, _, _): id = post
    case .comment(_, let comment, _), .editComment(_, let comment, _): id = comment
    case .deletePost(let gone), .deleteComment(_, let gone):
      endDeletion(gone)
      if succeeded { return }
      id = gone
    }
    if case .star(_, let isStarred) = action, let intent = starIntents[id], intent != isStarred {
      return
    }
    reading.deliveries[id] = succeeded ? .acknowledged(at: now) : .refused
  }

  /// What waited for a connection is on its way now, or waits again.
  mutating func connectionChanged() {
    for (id, delivery) in reading.deliveries {
      switch delivery {
      case .local, .sent: note(id)
      case .acknowledged, .refused: break
      }
    }
  }

  /// How far my last change of a post or comment has got.
  func delivery(of id: String) -> Delivery? {
    if let delivery = reading.deliveries[id] { return delivery.isOver(now: now) ? nil : delivery }
    guard pendingWrites > 0, feed.extent.pending.contains(id) else { return nil }
    return connection == .online ? .sent : .local
  }
}
