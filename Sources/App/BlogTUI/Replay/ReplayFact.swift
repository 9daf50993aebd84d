import BlogModel

/// Who did what in a step of a recording.
package struct ReplayFact: Hashable, Sendable {
  /// The kinds of facts, to which the user can jump.
  package enum Kind: CaseIterable, Hashable, Sendable {
    case key
    /// A post was written, changed or deleted.
    case post
    case star
    /// A comment was written, changed or deleted.
    case comment
    /// A person came or left.
    case people
    case connection
    case refusal
    case other
  }

  package let kind: Kind
  package let text: SafeText

  init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = SafeText(untrusted: text, limit: 200)
  }
}

extension ReplayFact {
  /// The facts of a step; none for a step that nobody caused, such as the passing of time.
  static func facts(of step: RecordedStep, before model: Model) -> [ReplayFact] {
    switch step.entry {
    case nil: return []
    case .start(let start)?: return [ReplayFact(.other, "\(start.me.name) opened the blog")]
    case .event(let event)?: return facts(of: event, before: model)
    }
  }

  private static func facts(of event: Event, before model: Model) -> [ReplayFact] {
    let me = model.me.name
    switch event {
    case .key(.paste(let text)): return [ReplayFact(.key, "\(me) pasted \(quoted(text))")]
    case .key(.resize(let size)):
      return [ReplayFact(.other, "the terminal has \(size.width)x\(size.height) cells")]
    case .key(let key): return [ReplayFact(.key, "\(me) pressed \(key.description)")]
    case .command(let text): return [ReplayFact(.key, "\(me) said :\(text)")]
    case .blog(let event): return facts(of: event, before: model)
    case .failed(let text): return [ReplayFact(.refusal, text)]
    case .succeeded(let text): return [ReplayFact(.other, text)]
    case .started, .tick, .posted, .commented, .resumed, .edited, .editedText, .kept, .configured,
      .wire, .commandEnded:
      return []
    }
  }

  private static func facts(of event: BlogEvent, before model: Model) -> [ReplayFact] {
    switch event {
    case .feed(let kind, let posts): return changes(of: kind, to: posts, in: model)
    case .post(let id, let post): return change(of: id, to: post, in: model)
    case .comments(let id, let comments): return changes(of: comments, on: id, in: model)
    case .people(let people): return changes(of: people, in: model)
    case .connection(let state):
      let isOnline = state == .online
      guard isOnline != (model.connection.state == .online) else { return [] }
      return [ReplayFact(.connection, "the connection is \(isOnline ? "there" : "gone")")]
    case .connectionProblem(let problem):
      return problem.map { [ReplayFact(.connection, $0.reason)] } ?? []
    case .silence(let silence):
      return silence.map { [ReplayFact(.connection, "no answer from \($0.address)")] } ?? []
    case .feedFailed(_, let reason), .postFailed(_, let reason), .markRefused(_, let reason):
      return [ReplayFact(.refusal, "refused: \(reason)")]
    case .failed(_, let reason): return [ReplayFact(.refusal, "refused: \(reason)")]
    case .renamed(let me): return [ReplayFact(.other, "\(model.me.name) is \(me.name) now")]
    case .succeeded, .extent, .found, .typing, .readState, .markAnswered, .notice, .notices,
      .ownLists, .named, .unnamed, .reading,
      .roundTrip,
      .pendingWrites, .latestComments, .hasEarlierComments:
      return []
    }
  }

  // MARK: Posts

  private static func changes(
    of kind: FeedKind,
    to posts: [Post],
    in model: Model
  ) -> [ReplayFact] {
    let feed = model[kind]
    guard feed.phase == .loaded else {
      return [
        ReplayFact(.other, "\(posts.count.counted("post")) of the list \(kind.name) came")
      ]
    }
    var facts = posts.enumerated().flatMap { number, post -> [ReplayFact] in
      let former = feed.posts.index(of: post.id, near: number).map { feed.posts[$0] }
      guard former != post, !isKnown(post, to: model) else { return [] }
      guard let before = model.knownPost(post.id) else {
        // Older posts were only loaded later, not just written.
        guard (post.createdAt ?? 0) >= model.now - recent else { return [] }
        return [ReplayFact(.post, "\(post.author) wrote \(quoted(post.title))")]
      }
      return Self.changes(of: before, to: post, in: model)
    }
    guard case .recent = kind else { return facts }
    let left = Set(posts.map(\.id))
    // Posts above the last remaining one were deleted; those below may only have left the window.
    let last = feed.posts.lastIndex { left.contains($0.id) } ?? feed.posts.endIndex
    for post in feed.posts[..<min(last, feed.posts.endIndex)] where !left.contains(post.id) {
      facts.append(ReplayFact(.post, "\(post.author) deleted \(quoted(post.title))"))
    }
    return facts
  }

  private static func change(of id: PostID, to post: Post?, in model: Model) -> [ReplayFact] {
    guard let before = model.knownPost(id) else { return [] }
    guard let post else {
      return [ReplayFact(.post, "\(before.author) deleted \(quoted(before.title))")]
    }
    return isKnown(post, to: model) ? [] : changes(of: before, to: post, in: model)
  }

  /// Whether one of the lists, or the open post, already has this version of the post.
  private static func isKnown(_ post: Post, to model: Model) -> Bool {
    model.openPost?.post == post || model.allFeeds.contains { model[$0].post(post.id) == post }
  }

  private static func changes(of before: Post, to post: Post, in model: Model) -> [ReplayFact] {
    var facts: [ReplayFact] = []
    let title = quoted(post.title)
    for uid in post.stars.subtracting(before.stars).sorted() {
      facts.append(ReplayFact(.star, "\(name(uid, in: model)) starred \(title)"))
    }
    for uid in before.stars.subtracting(post.stars).sorted() {
      facts.append(
        ReplayFact(.star, "\(name(uid, in: model)) removed the star from \(title)")
      )
    }
    if facts.isEmpty, post.starCount != before.starCount {
      facts.append(ReplayFact(.star, "\(title) has \(post.starCount.counted("star"))"))
    }
    if post.title != before.title || post.body != before.body {
      facts.append(ReplayFact(.post, "\(post.author) changed \(title)"))
    }
    return facts
  }

  // MARK: Comments and people

  private static func changes(
    of comments: [Comment],
    on id: PostID,
    in model: Model
  ) -> [ReplayFact] {
    guard let open = model.openPost, open.id == id, let known = open.comments.visible else {
      return []
    }
    let before = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    let left = Set(comments.map(\.id))
    let new = comments.compactMap { comment -> ReplayFact? in
      guard let old = before[comment.id] else {
        return ReplayFact(.comment, "\(comment.author) commented \(quoted(comment.text))")
      }
      guard old.text != comment.text else { return nil }
      return ReplayFact(.comment, "\(comment.author) changed a comment to \(quoted(comment.text))")
    }
    let gone = known.filter { !left.contains($0.id) }.map {
      ReplayFact(.comment, "\($0.author) deleted the comment \(quoted($0.text))")
    }
    return new + gone
  }

  private static func changes(of people: [Presence], in model: Model) -> [ReplayFact] {
    let before = Set(model.reading.company.people.map(\.id))
    let now = Set(people.map(\.id))
    return people.filter { !before.contains($0.id) }
      .map { ReplayFact(.people, "\($0.person.name) is here") }
      + model.reading.company.people.filter { !now.contains($0.id) }
      .map { ReplayFact(.people, "\($0.person.name) has left") }
  }

  // MARK: Words

  private static func name(_ uid: String, in model: Model) -> String {
    if uid == model.me.uid { return model.me.name }
    if let person = model.reading.company.people.first(where: { $0.person.uid == uid }) {
      return person.person.name
    }
    let post = model.allFeeds.lazy.flatMap { model[$0].posts }.first { $0.uid == uid }
    return post?.author ?? uid
  }

  private static func quoted(_ text: String) -> String {
    "“" + SafeText(untrusted: text, limit: 60).string + "”"
  }
}

/// The largest age of a post that counts as just written, in milliseconds.
private let recent: Int64 = 60_000
