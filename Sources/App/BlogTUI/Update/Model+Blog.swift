import BlogModel

extension Model {
  /// Takes over what happened to the blog.
  mutating func handle(_ event: BlogEvent) -> [Effect] {
    for person in event.people { names.learn(person) }
    switch event {
    case .feed(let kind, let posts):
      reading.lastEventAt = now
      self[kind].update(posts, matching: filter(of: kind))
      if kind == tab, search?.pattern == nil { return tellPosition() }
    case .extent(let kind, let extent):
      self[kind].extent = extent
    case .latestComments(let id, let comments):
      reading.latestComments[id] = comments
    case .typing(let id, let typists):
      if openPost?.id == id { openPost?.typists = typists }
    case .people(let people):
      reading.people = people
    case .readState(let state):
      return take(state)
    case .markAnswered:
      return takeAnswerToMark()
    case .notice(let notice):
      return take(notice)
    case .roundTrip(let milliseconds):
      reading.roundTrip = milliseconds
    case .feedFailed(let kind, let reason):
      self[kind].phase = .failed(reason)
      if kind == tab {
        message = .failure("This list cannot be read: \(Self.clause(reason)). r tries again.")
      }
    case .post(let id, let post):
      reading.lastEventAt = now
      update(openPost: id, post)
    case .comments(let id, let comments):
      reading.lastEventAt = now
      guard openPost?.id == id else { return [] }
      openPost?.update(comments: comments)
      return markOpenPostRead()
    case .connection(let state):
      // The same state told again is no new countdown, unless the old one is over.
      if state != connection || secondsUntilRetry == 0 { connectionChangedAt = now }
      connection = state
      connectionChanged()
    case .connectionProblem(let reason): connectionProblem = reason
    case .pendingWrites(let count):
      pendingWrites = max(0, count)
      // Leaving was put off for what was on its way: with nothing open there is nothing to ask.
      if question == .quit, !hasOpenEnds { return give(.quit) }
    case .succeeded(let action):
      note(action, succeeded: true)
      forgetIntent(action)
    case .failed(let action, let reason):
      note(action, succeeded: false)
      forgetIntent(action)
      fail(action, reason: reason)
      return [.bell]
    }
    return []
  }

  private mutating func update(openPost id: PostID, _ post: Post?) {
    guard let open = openPost, open.id == id else { return }
    openPost?.update(post: post)
    if post == nil, !open.isGone {
      message = .failure("This post was deleted. What you typed stays here; Esc goes back.")
    }
  }

  private mutating func forgetIntent(_ action: BlogAction) {
    guard case .star(let id, let isStarred) = action, starIntents[id] == isStarred else { return }
    starIntents[id] = nil
  }

  /// Says what was refused, why, and what to do; what was typed comes back.
  private mutating func fail(_ action: BlogAction, reason: String) {
    let why = Self.clause(reason)
    switch action {
    case .post(let id, let title, let body):
      for kind in allFeeds where self[kind].awaited == id { self[kind].awaited = nil }
      restore(title: title, body: body, reason: reason)
    case .comment(let id, _, let text):
      restore(comment: text, on: id, why: why)
    case .star(_, true):
      message = .failure("The star was not saved: \(why). s tries again.")
    case .star(_, false):
      message = .failure("The star was not taken back: \(why). s tries again.")
    case .edit(_, let title, let body):
      restore(title: title, body: body, reason: reason)
    case .editComment(let id, _, let text):
      restore(comment: text, on: id, why: why)
    case .deletePost:
      message = .failure("The post was not deleted: \(why). d tries again.")
    case .deleteComment:
      message = .failure("The comment was not deleted: \(why). d tries again.")
    }
  }

  private mutating func restore(comment text: String, on id: PostID, why: String) {
    if let open = openPost, open.id == id, open.field.isEmpty {
      openPost?.field.setText(text)
      message = .failure("Your comment was not saved: \(why). It is back in its line.")
      return
    }
    commentDrafts[id, default: []].append(text)
    message = .failure("Your comment was not saved: \(why). It is kept with its post.")
  }
}

extension BlogEvent {
  /// Everybody whose name the event tells.
  fileprivate var people: [Author] {
    switch self {
    case .feed(_, let posts): posts.map { Author(uid: $0.uid, name: $0.author) }
    case .post(_, let post?): [Author(uid: post.uid, name: post.author)]
    case .comments(_, let comments): comments.map { Author(uid: $0.uid, name: $0.author) }
    case .typing(_, let typists): typists.map(\.person)
    case .people(let people): people.map(\.person)
    case .notice(.comment(_, _, let author)): [author]
    case .post(_, nil), .extent, .feedFailed, .latestComments, .readState, .markAnswered, .notice,
      .roundTrip, .connection, .connectionProblem, .pendingWrites, .succeeded, .failed:
      []
    }
  }
}
