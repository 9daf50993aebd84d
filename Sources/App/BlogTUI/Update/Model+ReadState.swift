import BlogModel

/// What was read and what is new.
extension Model {
  /// Whether the post is to be read by me.
  func isUnread(_ post: Post) -> Bool {
    post.uid != me.uid && reading.state?.isUnread(post) == true
  }

  /// How many comments are to be read on a post whose text I have read.
  func newComments(on post: Post) -> NewComments {
    guard let state = reading.state, let comments = reading.latestComments[post.id],
      openPost?.id != post.id
    else { return NewComments(count: 0) }
    return state.newComments(among: comments, on: post.id, for: me.uid)
  }

  /// Whether there is something to read: the post itself, or comments on it.
  func hasNews(_ post: Post) -> Bool { isUnread(post) || newComments(on: post).count > 0 }

  /// Asks for the newest comments on the posts in view that I have opened or written.
  ///
  /// Of others it is not known what was read of their comments, so that nothing can be new there.
  mutating func watchComments() -> [Effect] {
    // Behind an open post nothing is in view, and the same posts come back with the list.
    guard openPost == nil || isSplit, let state = reading.state else { return [] }
    let ids = feed.list.visibleIDs
    // Most keys change neither, and this is asked after every one.
    if let last = reading.watchedAmong, last.state == state, ids.elementsEqual(last.ids) {
      return []
    }
    reading.watchedAmong = (Array(ids), state)
    let wanted = postsToWatch(among: ids, state)
    guard wanted != reading.watched else { return [] }
    reading.watched = wanted
    for id in reading.latestComments.keys where !wanted.contains(id) {
      reading.latestComments[id] = nil
    }
    return [.watchComments(wanted)]
  }

  private func postsToWatch(among ids: ArraySlice<PostID>, _ state: ReadState) -> [PostID] {
    ids.filter { id in
      switch state.marks[id] {
      case .read: true
      case .unread: false
      case nil: feed.post(id)?.uid == me.uid
      }
    }
  }

  /// Takes over what all my terminals have read.
  mutating func take(_ readState: ReadState) -> [Effect] {
    let isFirst = reading.state == nil
    reading.take(readState)
    noteReadState()
    // Later on, another terminal may have marked the post as unread on purpose.
    return isFirst && openPost?.comments != nil ? markOpenPostRead() : []
  }

  /// Takes note that a mark of mine was stored or refused.
  mutating func takeAnswerToMark() -> [Effect] {
    reading.takeAnswerToMark()
    noteReadState()
    return []
  }

  private mutating func noteReadState() {
    // Posts that were read leave a list of unread ones when it is searched again, not under the eyes.
    guard let state = reading.state else { return }
    openPost?.noteRead(state, me: me.uid)
  }

  /// Notes that the open post was read with all its comments.
  mutating func markOpenPostRead() -> [Effect] {
    guard let state = reading.state, let open = openPost, open.post != nil, !open.staysUnread else {
      return []
    }
    let last = open.comments?.last?.id ?? state.lastComment(on: open.id) ?? ""
    let mark = ReadState.Mark.read(lastComment: last)
    guard state.marks[open.id] != mark else { return [] }
    reading.mark { $0.marks[open.id] = mark }
    return [.mark(open.id, mark)]
  }

  mutating func toggleRead() -> [Effect] {
    guard reading.state != nil, let post = currentPost else { return [] }
    let latest = openPost?.id == post.id ? nil : reading.latestComments[post.id]?.last?.id
    let read = latest.map { ReadState.Mark.read(lastComment: $0) } ?? .read(until: now)
    let mark = hasNews(post) ? read : .unread
    reading.mark { $0.marks[post.id] = mark }
    openPost?.staysUnread = mark == .unread
    message = .note(mark == .unread ? "Marked as unread." : "Marked as read.")
    return [.mark(post.id, mark)]
  }

  mutating func markAllRead() -> [Effect] {
    guard reading.state != nil else { return [] }
    let now = now
    reading.mark { $0 = ReadState(before: now) }
    message = .note("Everything up to now counts as read.")
    return [.markAllRead]
  }

  /// To the first comment that was not read, or to the next unread post of the list.
  mutating func showNextUnread() {
    if openPost != nil {
      guard openPost?.selectFirstUnread() == true else {
        message = .note("No comment here is unread.")
        return
      }
      return
    }
    let ids = feed.list.ids
    let start = (feed.list.selectedIndex ?? 0) + 1
    let order = Array(ids.dropFirst(start)) + Array(ids.prefix(start))
    var guess = start
    let next = order.first { id in
      guard let place = feed.posts.place(of: id, near: guess) else { return false }
      guess = place + 1
      return hasNews(feed.posts[place])
    }
    guard let id = next else {
      message = .note("No post in this list is unread.")
      return
    }
    feed.list.select(id)
    feed.markSeen()
  }
}
