import BlogModel

/// What the account keeps for itself: muted and blocked people, and bookmarks.
extension Model {
  /// Adopts the lists as the blog has them.
  mutating func adopt(_ lists: OwnLists) {
    session.reading.lists = lists
    openPost?.mute(lists.muted)
    session.refilter()
    if let entries = session.reading.allNotices { _ = take(entries) }
    relayout()
  }

  /// The author of the selected comment, or of the post.
  private var authorInView: Author? {
    if let comment = openPost?.selectedComment {
      return Author(uid: comment.uid, name: comment.author)
    }
    return postInView.map { Author(uid: $0.uid, name: $0.author) }
  }

  /// Why an action on somebody else does not apply.
  var otherAuthorReason: DisabledReason? {
    guard let author = authorInView, !author.uid.isEmpty else { return .nothingThere }
    return author.uid == session.me.uid ? .note("That is you") : nil
  }

  mutating func toggleMute() -> [Effect] {
    guard let author = authorInView else { return [] }
    return mute(author, !session.reading.lists.muted.contains(author.uid))
  }

  private mutating func mute(_ author: Author, _ isMuted: Bool) -> [Effect] {
    let name = session.name(of: author.uid, named: author.name)
    session.message = .note(
      isMuted ? "\(name) is muted; u undoes, :muted lists all" : "\(name) is no longer muted"
    )
    let undo = BlogAction.mute(uid: author.uid, !isMuted)
    let undone = isMuted ? "\(name) is no longer muted" : "\(name) is muted again"
    session.reading.add(.written(undo: undo, message: undone))
    return session.perform(.mute(uid: author.uid, isMuted))
  }

  mutating func toggleBlock() -> [Effect] {
    guard let author = authorInView else { return [] }
    return block(author, !session.reading.lists.blocked.contains(author.uid))
  }

  private mutating func block(_ author: Author, _ isBlocked: Bool) -> [Effect] {
    let name = session.name(of: author.uid, named: author.name)
    session.message = .note(
      isBlocked
        ? "\(name) can no longer comment on your posts; u undoes"
        : "\(name) can comment on your posts again"
    )
    let undo = BlogAction.block(uid: author.uid, !isBlocked)
    let undone = isBlocked ? "\(name) can comment again" : "\(name) is blocked again"
    session.reading.add(.written(undo: undo, message: undone))
    return session.perform(.block(uid: author.uid, isBlocked))
  }

  mutating func toggleBookmark() -> [Effect] {
    guard let post = postInView else { return [] }
    let isMarked = !session.reading.lists.bookmarks.contains(post.id)
    session.message = .note(
      isMarked ? "The post is marked; 6 shows all bookmarks" : "The bookmark is removed"
    )
    let undone = isMarked ? "The bookmark is removed" : "The bookmark is back"
    session.reading.add(.written(undo: .bookmark(post.id, !isMarked), message: undone))
    return session.perform(.bookmark(post.id, isMarked))
  }

  /// Shows the people who are muted or blocked; choosing one ends it.
  mutating func openMuted() {
    let lists = session.reading.lists
    func items(
      _ people: Set<String>,
      _ detail: String,
      _ choice: (Author) -> Chooser.Choice
    )
      -> [Chooser.Item]
    {
      people.sorted().map { uid in
        let name = session.names.name(of: uid) ?? uid
        let person = Author(uid: uid, name: name)
        return Chooser.Item(
          title: session.name(of: uid, named: name),
          detail: detail,
          choice: choice(person)
        )
      }
    }
    show(
      Chooser(
        .muted,
        items: items(lists.muted, "muted; Enter shows what they write") { .unmute($0) }
          + items(lists.blocked, "blocked; Enter allows their comments") { .unblock($0) }
      )
    )
  }

  /// Ends muting or blocking somebody.
  mutating func readmit(_ person: Author, asBlocked: Bool) -> [Effect] {
    asBlocked ? block(person, false) : mute(person, false)
  }
}

extension OwnLists {
  /// Whether anybody is muted or blocked.
  var hasUnwanted: Bool { !muted.isEmpty || !blocked.isEmpty }
}
