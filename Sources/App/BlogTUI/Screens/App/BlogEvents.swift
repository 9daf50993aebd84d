import BlogModel

extension Model {
  mutating func handle(_ event: BlogEvent) -> [Effect] {
    for person in event.people { session.reading.names.learn(person) }
    switch event {
    case .feed(let kind, let posts):
      session.connection.lastEventAt = session.now
      let before = session[kind]
      let added = session[kind].update(posts, matching: session.filter(of: kind))
      if openPost == nil || session.isSplit { session.noteArrivals(added, in: kind, since: before) }
      if kind == session.tab, session.search?.pattern == nil { return session.tellPosition() }
    case .extent(let kind, let extent):
      session[kind].extent = extent
    case .latestComments(let id, let comments):
      let newest = session.reading.comments.take(comments, on: id)
      if openPost == nil { session.noteComments(comments, since: newest) { _ in .newComments(id) } }
    case .typing(let id, let typists):
      if openPost?.id == id { openPost?.typists = typists }
    case .people(let people):
      session.reading.company.people = people
    case .reading(let places):
      session.reading.company.take(places)
    case .readState(let state):
      return take(state)
    case .markAnswered:
      session.reading.marks.takeAnswer()
      noteReadState()
    case .markRefused(let change, let reason):
      // An open post is marked by itself, and whoever may not do that need not know each time.
      if case .post(let id, .read) = change, openPost?.id == id { return [] }
      guard let refusal = change.refusal else { return [] }
      session.message = .failure("\(refusal): \(Self.clause(reason)).")
      return [.terminal(.bell)]
    case .notice(let notice):
      // A user who has the post open sees the change there.
      return openPost?.id == notice.post ? [] : session.take(notice)
    case .notices(let entries):
      let before = session.reading.notices == nil ? nil : session.unreadNotices
      let effects = take(entries)
      session.noteNotices(since: before)
      return effects
    case .ownLists(let lists):
      adopt(lists)
    case .named(let me): session.me = me
    case .unnamed: askForName()
    case .renamed(let me):
      session.me = me
      session.tell("Your name is \(me.name) now")
    case .roundTrip(let milliseconds):
      session.connection.roundTrip = milliseconds
    case .feedFailed(let kind, let reason):
      session[kind].phase = .failed(reason)
      if kind == session.tab {
        let why = Self.clause(reason)
        let place = context == .list ? "" : "On the list, "
        session.message = .failure(
          "This list cannot be read: \(why). \(place)\(session.retryAdvice)"
        )
      }
    case .postFailed(let id, let reason):
      guard openPost?.id == id else { return [] }
      openPost?.isRefused = true
      // What is said of the list, which was refused as well, also says what to do.
      if case .failed = session.feed.phase { return [] }
      session.message = .failure("Not all of this post can be read: \(Self.clause(reason)).")
    case .post(let id, let post):
      session.connection.lastEventAt = session.now
      update(openPost: id, post)
    case .comments(let id, let comments):
      session.connection.lastEventAt = session.now
      guard openPost?.id == id else { return [] }
      let (newest, before) = (openPost?.comments.newest, openPost?.comments.all ?? [])
      openPost?.update(comments: comments)
      if session.message == .loadingEarlier, comments.count > before.count {
        session.message = .note("The earlier comments are here")
      }
      session.noteComments(comments, since: newest) { .comment($0.id) }
      if openPost?.endEditOfGoneComment() == true {
        session.message = .failure("The comment was deleted; your text is the draft of a new one.")
      }
      if let earlier = openPost?.takeWishForEarlier() { return markOpenPostRead() + [earlier] }
      return markOpenPostRead()
    case .hasEarlierComments(let id, let hasEarlier):
      if openPost?.id == id { openPost?.comments.hasEarlier = hasEarlier }
    case .connection(let state):
      session.connection.become(state, at: session.now)
      session.writing.connectionBecame(online: state == .online)
    case .connectionProblem(let problem): session.connection.problem = problem
    case .silence(let silence): session.connection.silence = silence
    case .found(let progress): session.take(progress)
    case .pendingWrites(let count):
      session.writing.note(pendingWrites: count, of: session.feed.extent.pending)
      // The question was about pending writes; once they are acknowledged, there is nothing to ask.
      if question == .quit, !hasOpenEnds { return give(.quit) }
    case .succeeded(let action):
      take(action, succeeded: true)
    case .failed(let action, let reason):
      take(action, succeeded: false)
      fail(action, reason: reason)
      return [.terminal(.bell)]
    }
    return []
  }

  private mutating func update(openPost id: PostID, _ post: Post?) {
    guard let open = openPost, open.id == id else { return }
    if session.feed.updateFound(id, to: post) { session.refilter() }
    openPost?.update(post: post)
    if let post { session.noteStars(of: post, since: open.post) }
    if !open.isGone, let absence { session.message = .failure(absence) }
  }

  private mutating func take(_ action: BlogAction, succeeded: Bool) {
    session.writing.end(action, succeeded: succeeded, at: session.now)
    guard action.isDeletion else { return }
    session.refilter()
    hideDeleted()
  }

  /// Reports what was refused, why, and what to do; restores typed text.
  private mutating func fail(_ action: BlogAction, reason: String) {
    let why = Self.clause(reason)
    let undo = session.writing.forget(action)
    switch action {
    case .post(let id, let title, let body):
      for kind in session.allFeeds where session[kind].awaited == id {
        session[kind].awaited = nil
      }
      restore(Draft(title: title, body: body), reason: reason)
    case .comment(let id, _, let text, let answered):
      restore(CommentDraft(text, answering: answered), on: id, why: why)
    case .edit(let id, let title, let body):
      let post = original(of: id, before: undo)
      let draft = Draft(title: title ?? post.title, body: body ?? post.body, editing: post)
      restore(draft, reason: reason)
    case .editComment(let id, let comment, let text):
      let original = original(of: comment, on: id, before: undo)
      restore(CommentDraft(text, editing: original), on: id, why: why)
    case .star, .deletePost, .deleteComment, .follow, .mute, .block, .bookmark,
      .saveSearch:
      break
    case .rename: session.message = .failure("Your name was not changed: \(why).")
    }
    guard let refusal = action.refusal else { return }
    let key = session.key(Action(stringLiteral: refusal.retry))
    session.message = .failure("\(refusal.sentence): \(why). \(key) tries again.")
  }

  /// The post as it was before the refused edit, which undoing would have restored.
  private func original(of id: PostID, before undo: BlogAction?) -> Post {
    let me = session.me
    var post = knownPost(id) ?? Post(id: id, uid: me.uid, author: me.name, title: "", body: "")
    if case .edit(_, let title, let body)? = undo {
      post.title = title ?? post.title
      post.body = body ?? post.body
    }
    return post
  }

  /// The comment as it was before the refused edit, which undoing would have restored.
  private func original(
    of id: String,
    on post: PostID,
    before undo: BlogAction?
  ) -> Comment {
    let known = openPost?.id == post ? openPost?.comments.comment(id) : nil
    let me = session.me
    var comment = known ?? Comment(id: id, uid: me.uid, author: me.name, text: "")
    if case .editComment(_, _, let text)? = undo { comment = comment.with(text: text) }
    return comment
  }

  /// Restores a refused comment as what it was: a comment, an answer, or an edit of a comment.
  private mutating func restore(_ draft: CommentDraft, on id: PostID, why: String) {
    let what = draft.answered == nil ? "comment" : "answer"
    if let open = openPost, open.id == id, open.line.field.isEmpty {
      openPost?.line.take(draft)
      relayout()
      session.message = .failure("Your \(what) was not saved: \(why). It is back in its line.")
      return
    }
    session.writing.unsent.keep(draft, on: id)
    session.message = .failure("Your \(what) was not saved: \(why). It is kept with its post.")
  }

  /// Restores a refused post without touching what is being typed.
  private mutating func restore(_ refused: Draft, reason: String) {
    let why = Self.clause(reason)
    let problem = "Not saved: \(why). Change it, or send it again."
    var draft = refused
    draft.problem = problem
    // The form opens only where it does not interrupt typing, reading or answering.
    if composer?.draft.isEmpty == true || context == .list {
      composer = Composer(draft)
      relayout()
      explain(problem)
      return
    }
    session.writing.unsent.keep(draft)
    let name = SafeText(untrusted: draft.title).truncated(to: 30, ellipsis: session.glyphs.ellipsis)
    session.message = .failure(
      "Your post \"\(name.string)\" was not saved: \(why). It is kept; \(draftKey) opens it."
    )
  }

  /// What opens a draft: in a post, c writes a comment, unless the post is gone.
  var draftKey: String {
    context == .post && openPost?.isGone == false ? "c in the list" : "c"
  }

  /// Logs the problem, and also shows it as a message if it does not fit into the form.
  mutating func explain(_ problem: String) {
    let failure = Message.failure(problem)
    if failure.text.width > session.composeFrame.problem.width - 2 {
      session.message = failure
    } else {
      session.log(failure)
    }
  }

  /// A reason as part of a sentence, without its final period.
  static func clause(_ reason: String) -> String {
    let text = SafeText(untrusted: reason, limit: 2_000).string
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}

extension BlogEvent {
  /// Everyone whose name the event contains.
  fileprivate var people: [Author] {
    switch self {
    case .feed(_, let posts): posts.map(\.writer)
    case .found(let progress): progress.found.map(\.writer)
    case .post(_, let post?): [post.writer]
    case .comments(_, let comments): comments.map(\.writer)
    case .typing(_, let typists): typists.map(\.person)
    case .people(let people): people.map(\.person)
    case .notice(.comment(_, _, let author)), .notice(.reply(_, _, let author)),
      .notice(.mention(_, _, let author)):
      [author]
    case .notices(let entries): entries.compactMap(\.author)
    case .named(let author), .renamed(let author): [author]
    case .unnamed, .reading, .ownLists: []
    case .post(_, nil), .postFailed, .hasEarlierComments, .extent, .feedFailed, .latestComments,
      .readState, .markAnswered, .markRefused, .notice, .roundTrip,
      .connection, .connectionProblem, .silence, .pendingWrites, .succeeded, .failed:
      []
    }
  }
}
