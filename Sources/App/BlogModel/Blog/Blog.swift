internal import Foundation
private import NIOConcurrencyHelpers
private import RealtimeCore
package import RealtimeDatabase

/// The blog as one user sees it: one call for each thing that can be read or done.
///
/// A write is applied locally at once; the call returns when the server has stored it.
package struct Blog: Sendable {
  /// The user of this blog, by the name that the account has now.
  package var me: Author { user.withLockedValue { $0 } }
  private let user: NIOLockedValueBox<Author>
  package let paths: BlogPaths
  package let stars: StarMethod
  private let intents = StarIntents()

  /// Makes a blog at the root of a database.
  package init(
    database: Database,
    me: Author,
    stars: StarMethod = .transaction
  ) {
    user = NIOLockedValueBox(me)
    self.stars = stars
    paths = BlogPaths(database.reference())
    // The lists and watches drop what they know when they are stopped.
    database.silenceRemovedObservers()
  }

  /// Writes under another name of the same user from now on.
  func rename(_ name: String) {
    user.withLockedValue { $0 = Author(uid: $0.uid, name: name) }
  }

  /// Goes by the name that the database has for the user, if it has one that can be a name.
  ///
  /// - Throws: `DatabaseError` when the database cannot be read.
  package func adoptName() async throws {
    let name = try await paths.user(me.uid).child("username").getData().value as? String
    if let name, (try? Author(userName: name)) != nil { rename(name) }
  }

  private var starToggle: StarToggle { StarToggle(paths: paths, uid: me.uid) }

  private var starIncrement: StarIncrement {
    StarIncrement(
      paths: paths,
      uid: me.uid,
      intents: intents,
      rounds: stars == .localIncrement ? 40 : 3
    )
  }

  var fragments: FragmentSweep { FragmentSweep(paths: paths, uid: me.uid) }

  /// Removes the fragments that edits from an earlier run left of the user's deleted posts.
  package func removeFragments() async {
    await withCheckedContinuation { continuation in
      fragments.sweep { continuation.resume() }
    }
  }

  // MARK: Reading

  /// The current contents of a list, in display order, without the posts of people who are muted.
  ///
  /// There are at most a hundred.
  ///
  /// - Throws: `DatabaseError` when the database cannot be read.
  package func posts(_ feed: FeedKind) async throws -> [Post] {
    let posts = try await allPosts(feed)
    guard feed.leavesOutMuted else { return posts }
    let muted = await muted()
    return posts.filter { !muted.contains($0.uid) }
  }

  /// The people whom the user has muted; none where the rules know nothing of that.
  package func muted() async -> Set<String> {
    let snapshot = try? await paths.muted(by: me.uid).getData()
    return Set(snapshot?.childSnapshots.map(\.key) ?? [])
  }

  private func allPosts(_ feed: FeedKind) async throws -> [Post] {
    switch feed {
    case .tag, .bookmarks: return try await posts(in: feed).filter(feed.has)
    case .following: return try await followedPosts()
    case .recent, .top, .mine, .myTop, .author: break
    }
    let snapshot = try await paths.query(feed, of: me.uid).getData()
    return snapshot.childSnapshots.reversed().compactMap(Post.init)
  }

  /// The posts that the index of a list names.
  private func posts(in index: FeedKind) async throws -> [Post] {
    let entries = try await paths.query(index, of: me.uid).getData().childSnapshots
    var posts: [Post] = []
    for entry in entries.reversed() {
      if let post = Post(try await paths.post(entry.key).getData()) { posts.append(post) }
    }
    return posts
  }

  private func followedPosts() async throws -> [Post] {
    let people = try await paths.query(.following, of: me.uid).getData().childSnapshots
    var posts: [Post] = []
    for person in people {
      let query = paths.query(.author(uid: person.key), of: me.uid)
      posts += try await query.getData().childSnapshots.compactMap(Post.init)
    }
    let sorted = posts.sorted { $1.id.utf16.lexicographicallyPrecedes($0.id.utf16) }
    return Array(sorted.prefix(Int(BlogPaths.feedLength)))
  }

  /// Searches a whole list with the comments on its posts; the matches come newest first.
  ///
  /// The closure, which is called on any thread, tells whether a post with these comments matches.
  ///
  /// - Throws: ``BlogError/unreadable(_:)`` when the list cannot be read.
  package func search(
    _ feed: FeedKind,
    matching matches: @escaping @Sendable (Post, [Comment]) -> Bool
  ) async throws -> [Post] {
    let list = paths.all(feed, of: me.uid)
    var found: [Post] = []
    let reports = AsyncStream<SearchProgress> { continuation in
      PostSearch(0, in: list, comments: paths.allComments, matching: matches) { progress in
        continuation.yield(progress)
        if progress.end != nil { continuation.finish() }
      }.start()
    }
    for await progress in reports {
      found += progress.found
      guard case .failed(let reason) = progress.end else { continue }
      // Whatever refused the search refuses this, too, and says how.
      _ = try await paths.query(feed, of: me.uid).getData()
      throw BlogError.unreadable(reason)
    }
    return found
  }

  /// The terminals that are online.
  ///
  /// - Throws: `DatabaseError` when the database cannot be read.
  package func people() async throws -> [Presence] {
    PeopleWatch.people(try await paths.people.getData())
  }

  /// What people who are here read: an entry for each terminal that tells.
  package func reading(of people: [Presence]) async -> [ReadingPlace] {
    var found: [ReadingPlace] = []
    var titles: [PostID: String] = [:]
    for uid in Set(people.map(\.person.uid)).sorted().prefix(ReadingPlace.people) {
      guard let snapshot = try? await paths.reading(of: uid).getData() else { continue }
      for (id, post) in ReadingPlace.places(snapshot) {
        if let post, titles[post] == nil {
          titles[post] = try? await paths.post(post).child("title").getData().value as? String
        }
        found.append(ReadingPlace(id: id, post: post, title: post.flatMap { titles[$0] }))
      }
    }
    return found
  }

  // MARK: What is new

  /// What the user has read; where nothing is recorded, everything is unread.
  ///
  /// - Throws: `DatabaseError` when the database cannot be read.
  package func readState() async throws -> ReadState { try await recordedMarks().1 }

  /// What others did that concerns the user, newest first, and what of it the user has read.
  ///
  /// Where nothing is recorded, everything is unread.
  ///
  /// - Throws: `DatabaseError` when the database cannot be read.
  package func notices() async throws -> (entries: [NoticeEntry], state: ReadState) {
    let state = try await readState()
    let queue = paths.queue
    let told = AsyncStream<[NoticeEntry]> { continuation in
      let watch = NoticeWatch(paths, me: me) { event in
        guard case .notices(let entries) = event else { return }
        continuation.yield(entries)
        continuation.finish()
      }
      continuation.onTermination = { _ in queue.async { watch.stop() } }
      queue.async { watch.start() }
    }
    for await entries in told { return (entries, state) }
    return ([], state)
  }

  /// Records that a post is read with its comments, and its stars are seen; or that it is unread.
  ///
  /// - Throws: ``BlogError/notFound(_:)``, or `DatabaseError` when the server refuses it.
  package func mark(_ id: PostID, asRead isRead: Bool = true) async throws {
    let post = try await post(id)
    let (marks, _) = try await recordedMarks()
    guard isRead else {
      return try await finished { marks.apply(.post(id, .unread), completion: $0) }
    }
    let newest = paths.comments(on: id).queryOrderedByKey().queryLimited(toLast: 1)
    let last = try await newest.getData().childSnapshots.last?.key ?? ""
    try await finished { marks.apply(.post(id, .read(lastComment: last)), completion: $0) }
    guard post.uid == me.uid else { return }
    let stars = post.stars.subtracting([me.uid]).count
    try await finished { marks.apply(.stars([id: stars]), completion: $0) }
  }

  /// Records that everything written so far is read, and all stars are seen.
  ///
  /// - Throws: `DatabaseError` when the server refuses it.
  package func markAllRead() async throws {
    let stars = try await notices().entries.filter { $0.kind == .stars }
    let (marks, _) = try await recordedMarks()
    try await finished { marks.apply(.allRead, completion: $0) }
    let counts = Dictionary(stars.map { ($0.post, $0.stars) }) { $1 }
    try await finished { marks.apply(.stars(counts), completion: $0) }
  }

  /// Takes notices and everything older out of the list of notices, on all the user's terminals.
  ///
  /// - Throws: `DatabaseError` when the server refuses it.
  package func clear(_ entries: [NoticeEntry]) async throws {
    guard let key = entries.map(\.key).max() else { return }
    let (marks, _) = try await recordedMarks()
    let stars = entries.filter { $0.kind == .stars }.map { ($0.post, $0.stars) }
    try await finished { marks.apply(.stars(Dictionary(stars) { $1 }), completion: $0) }
    try await finished { marks.apply(.clearNotices(upTo: key), completion: $0) }
  }

  /// Reads what the user has read, for one use.
  private func recordedMarks() async throws -> (ReadMarks, ReadState) {
    let place = paths.seen(by: me.uid)
    let marks = ReadMarks(place, tell: { _ in })
    let state = marks.adopt(try await place.getData())
    return (marks, state)
  }

  /// Reads the current state of a post.
  ///
  /// - Throws: ``BlogError/notFound(_:)``, or `DatabaseError` when the database cannot be read.
  package func post(_ id: PostID) async throws -> Post {
    guard let post = Post(try await paths.post(checked(id)).getData()) else {
      throw BlogError.notFound(id)
    }
    return post
  }

  /// Reads the current comments on a post, oldest first.
  ///
  /// - Throws: `DatabaseError` when the database cannot be read.
  package func comments(on id: PostID) async throws -> [Comment] {
    try await paths.comments(on: checked(id)).getData().childSnapshots.compactMap(Comment.init)
  }

  /// Reads a comment.
  ///
  /// - Throws: ``BlogError/commentNotFound(_:)``, or `DatabaseError` when the database cannot be
  ///   read.
  package func comment(_ comment: String, on id: PostID) async throws -> Comment {
    let key = try ChildKey(checked(comment, or: BlogError.commentNotFound))
    let place = try paths.comments(on: checked(id)).child(of: key)
    guard let found = Comment(try await place.getData()) else {
      throw BlogError.commentNotFound(comment)
    }
    return found
  }

  // MARK: Writing

  /// What is known of the post or comment that an action is about, before the action.
  package struct Subject: Sendable {
    /// The post; if it is known, the traces that an edit or a deletion leaves can be removed.
    var post: Post?
    /// The comment, likewise.
    var comment: Comment?
    var parent: Comment?
  }

  /// Performs an action after finding out whether it can be performed.
  ///
  /// - Throws: ``BlogError``, or `DatabaseError` when the server refuses it.
  @discardableResult
  package func perform(_ action: BlogAction) async throws -> BlogAction {
    let subject = try await subject(of: action)
    let action = withKey(action)
    guard case .star(let id, let isStarred) = action else {
      try await finished { perform(action, on: subject, completion: $0) }
      return action
    }
    switch stars {
    case .transaction: try await starToggle.set(isStarred, on: id)
    case .increment, .localIncrement: try await starIncrement.set(isStarred, on: id)
    }
    return action
  }

  /// Reads what an action is about; throws if it does not exist or is not the user's to change.
  private func subject(of action: BlogAction) async throws -> Subject {
    var subject = Subject()
    switch action {
    case .post, .saveSearch, .rename: break
    case .star(let id, _): _ = try checked(id)
    case .comment(let id, _, _, _): _ = try await post(id)
    case .edit(let id, _, _), .deletePost(let id):
      let post = try await post(id)
      guard post.uid == me.uid else { throw BlogError.notMine("post \(id)", owner: post.author) }
      subject.post = post
    case .editComment(let id, let key, _), .deleteComment(let id, let key):
      let found = try await comment(key, on: id)
      guard found.uid == me.uid else {
        throw BlogError.notMine("comment \(key)", owner: found.author)
      }
      subject.comment = found
      if let parent = found.parent { subject.parent = try? await comment(parent, on: id) }
    case .bookmark(let id, let isMarked):
      _ = isMarked ? try await post(id).id : try checked(id)
    case .follow(let uid, let isAdded), .mute(let uid, let isAdded), .block(let uid, let isAdded):
      let person = try paths.user(checked(uid, or: BlogError.unknownPerson))
      if isAdded, !(try await person.getData().exists()) { throw BlogError.unknownPerson(uid) }
    }
    return subject
  }

  /// The action with the key of what it will write.
  func withKey(_ action: BlogAction) -> BlogAction {
    if case .post(nil, let title, let body) = action {
      return .post(paths.posts.childByAutoId().key, title: title, body: body)
    }
    if case .comment(let id, nil, let text, let answered) = action {
      let key = newComment(on: id, answering: answered?.id)
      return .comment(id, commentID: key, text: text, answering: answered)
    }
    return action
  }

  /// Performs an action on what exists and is the user's; the change is visible at once.
  ///
  /// What is new and has no key yet gets one. The completion is called when the server has stored
  /// or refused the change.
  package func perform(
    _ action: BlogAction,
    on subject: Subject = Subject(),
    completion: @escaping BlogCompletion
  ) {
    switch withKey(action) {
    case .post(let id, let title, let body):
      let post = Post(id: id ?? "", uid: me.uid, author: me.name, title: title, body: body)
      write(post, completion: completion)
    case .comment(let id, let comment, let text, let answered):
      write(
        comment: comment ?? "",
        on: id,
        text: text,
        answering: answered,
        completion: completion
      )
    case .star(let id, let isStarred):
      star(isStarred, on: id, owner: subject.post?.uid, completion: completion)
    case .edit(let id, let title, let body):
      rewrite(post: id, title: title, body: body, before: subject.post, completion: completion)
    case .editComment(let id, let comment, let text):
      rewrite(
        comment: comment,
        on: id,
        text: text,
        before: subject.comment,
        completion: completion
      )
    case .deletePost(let id):
      let places = ["posts/\(id)", "user-posts/\(me.uid)/\(id)", "post-comments/\(id)"]
      let traces = subject.post.map(BlogTrace.all) ?? []
      remove(places, of: id, on: id, leading: traces, completion: completion)
    case .deleteComment(let id, let key):
      let traces = subject.comment.map {
        BlogTrace.all(of: $0, on: id, answering: subject.parent)
      }
      let places = ["post-comments/\(id)/\(key)"]
      remove(places, of: key, on: id, leading: traces ?? [], completion: completion)
    case .follow(me.uid, true), .mute(me.uid, true), .block(me.uid, true):
      completion(BlogError.oneself)
    case .follow(let uid, let isFollowed):
      keep(uid, in: paths.following(by: me.uid), isFollowed, completion: completion)
    case .mute(let uid, let isMuted):
      keep(uid, in: paths.muted(by: me.uid), isMuted, completion: completion)
    case .block(let uid, let isBlocked):
      keep(uid, in: paths.blocked(by: me.uid), isBlocked, completion: completion)
    case .bookmark(let id, let isMarked):
      keep(id, in: paths.bookmarks(of: me.uid), isMarked, completion: completion)
    case .saveSearch(let slot, let name, let text):
      let place = paths.searches(of: me.uid).child(of: ChildKey(slot))
      place.setValue(text.map { ["name": name, "text": $0] }) { error, _ in completion(error) }
    case .rename(let name):
      paths.user(me.uid).child("username").setValue(name) { error, _ in completion(error) }
    }
  }

  /// Adds a key to a list of the account, or removes it.
  private func keep(
    _ key: String,
    in list: DatabaseReference,
    _ isKept: Bool,
    completion: @escaping BlogCompletion
  ) {
    list.child(of: ChildKey(key)).setValue(isKept ? true : nil) { error, _ in completion(error) }
  }

  /// Writes a post and its copy in the author's list in one update.
  private func write(_ post: Post, completion: @escaping BlogCompletion) {
    let problem = BlogBounds.problem(title: post.title, body: post.body)
    guard Self.accepts(problem, or: completion) else { return }
    let values: [String: Any] = [
      "posts/\(post.id)": post.storedValue,
      "user-posts/\(post.uid)/\(post.id)": post.storedValue,
      "users/\(post.uid)/username": post.author,
    ]
    update(values, leading: BlogTrace.all(of: post), completion: completion)
  }

  /// Makes the key of a comment, which comes after that of the comment it answers.
  ///
  /// Clients know the server's time to some milliseconds only, and an answer may be quicker.
  package func newComment(on id: PostID, answering parent: String? = nil) -> String {
    let key = paths.comments(on: id).childByAutoId().key ?? ""
    guard let parent, ChildKey(key) < ChildKey(parent), let time = PushID.time(of: parent) else {
      return key
    }
    return PushID.timePart(time + 1) + key.suffix(12)
  }

  /// Writes a comment or a reply to one.
  ///
  /// One update writes the comment with all its traces, so that the author of the parent comment
  /// and everyone it mentions find its key where they look for it.
  private func write(
    comment: String,
    on id: PostID,
    text: String,
    answering parent: Comment? = nil,
    completion: @escaping BlogCompletion
  ) {
    guard Self.accepts(BlogBounds.problem(comment: text), or: completion) else { return }
    let new = Comment(id: comment, uid: me.uid, author: me.name, text: text, parent: parent?.id)
    let values: [String: Any] = [
      "post-comments/\(id)/\(comment)": new.storedValue, "users/\(me.uid)/username": me.name,
    ]
    let traces = BlogTrace.all(of: new, on: id, answering: parent)
    update(values, leading: traces, completion: completion)
  }

  /// Stars or unstars a post that is known to exist; the change is visible at once.
  ///
  /// If the owner of the post is known, an increment is sent without reading the post first. The
  /// completion is called when both copies agree, or as soon as there is an error; `settled` is
  /// called last, when no further attempt will be made, with the error if there was one.
  package func star(
    _ isStarred: Bool,
    on id: PostID,
    owner: String? = nil,
    settled: @escaping BlogCompletion = { _ in },
    completion: @escaping BlogCompletion
  ) {
    switch stars {
    case .transaction:
      starToggle.start(isStarred, on: id, settled: settled, completion: completion)
    case .increment, .localIncrement:
      starIncrement.start(isStarred, on: id, owner: owner) { error in
        completion(error)
        settled(error)
      }
    }
  }

  /// Changes the given parts of a post that is known to be the user's; all else is left alone.
  ///
  /// A post that was deleted before the change arrived stays deleted and is reported as not found.
  /// If the old post is known, the traces of tags and mentions that it no longer contains are
  /// removed.
  private func rewrite(
    post id: PostID,
    title: String?,
    body: String?,
    before old: Post? = nil,
    completion: @escaping BlogCompletion
  ) {
    guard Self.accepts(BlogBounds.problem(title: title, body: body), or: completion) else { return }
    let checked = whole(or: BlogError.notFound(id), completion)
    var values: [String: Any] = [:]
    for place in ["posts/\(id)", "user-posts/\(me.uid)/\(id)"] {
      values["\(place)/title"] = title
      values["\(place)/body"] = body
    }
    var new = old ?? Post(id: id, uid: me.uid, author: me.name, title: "", body: "")
    new.title = title ?? new.title
    new.body = body ?? new.body
    let before = old.map(BlogTrace.all) ?? []
    update(values, leading: BlogTrace.all(of: new), without: before) { [fragments] error in
      if let error { return completion(error) }
      fragments.check(id, completion: checked)
    }
  }

  /// Maps the result of the check for a fragment to the completion of an edit.
  private func whole(
    or missing: BlogError,
    _ completion: @escaping BlogCompletion
  ) -> @Sendable (Result<Bool, any Error>) -> Void {
    { result in
      // Where only the check afterwards has failed, the change itself was stored.
      if case .success(false) = result { completion(missing) } else { completion(nil) }
    }
  }

  /// Changes the text of a comment that is known to be the user's.
  private func rewrite(
    comment: String,
    on id: PostID,
    text: String,
    before old: Comment? = nil,
    completion: @escaping BlogCompletion
  ) {
    guard Self.accepts(BlogBounds.problem(comment: text), or: completion) else { return }
    let checked = whole(or: BlogError.commentNotFound(comment), completion)
    let values: [String: Any] = ["post-comments/\(id)/\(comment)/text": text]
    let new = Comment(id: comment, uid: me.uid, author: me.name, text: text)
    let before = old.map { BlogTrace.all(of: $0, on: id, answering: nil) } ?? []
    let traces = BlogTrace.all(of: new, on: id, answering: nil)
    update(values, leading: traces, without: before) { [fragments] error in
      if let error { return completion(error) }
      fragments.check(comment, on: id, completion: checked)
    }
  }

  /// Removes a post or comment and records its key, so that nothing else can take its place.
  ///
  /// Rules that do not know such records refuse them; the removal is then repeated without one.
  private func remove(
    _ places: [String],
    of key: String,
    on post: PostID,
    leading traces: [BlogTrace],
    completion: @escaping BlogCompletion
  ) {
    let done: BlogCompletion = { error in
      // A trace that cannot be removed leads nowhere and does no harm. This is an update of its own,
      // so that rules that do not know replies, mentions and tags cannot prevent a deletion.
      if error == nil, !traces.isEmpty { update([:], without: traces) { _ in } }
      completion(error)
    }
    let removal: @Sendable () -> [String: Any] = {
      Dictionary(places.map { ($0, NSNull() as Any) }) { $1 }
    }
    var values = removal()
    values["deleted/\(post)/\(key)"] = me.uid
    // The author's count of the stars seen is bound to the post.
    if key == post { values["seen/\(me.uid)/stars/\(post)"] = NSNull() }
    update(values) { error in
      let isRefused = (error as? DatabaseError)?.kind == .permissionDenied
      if isRefused { update(removal(), completion: done) } else { done(error) }
    }
  }

  /// Sends an update, with the traces of what it writes and without those that this replaces.
  private func update(
    _ values: [String: Any],
    leading traces: [BlogTrace] = [],
    without old: [BlogTrace] = [],
    completion: @escaping BlogCompletion
  ) {
    var values = values
    for trace in Set(old).subtracting(traces) { values[trace.place] = NSNull() }
    for trace in traces { values[trace.place] = trace.stored }
    paths.root.updateChildValues(values) { error, _ in completion(error) }
  }

  /// Reports a text that the blog does not take; returns whether it takes the text.
  private static func accepts(
    _ problem: BlogBounds.Problem?,
    or completion: BlogCompletion
  ) -> Bool {
    if let problem { completion(BlogError.invalidText(problem.description)) }
    return problem == nil
  }

  /// Returns a key if it is legal; nothing can exist under an illegal one.
  private func checked(
    _ id: String,
    or missing: (String) -> BlogError = BlogError.notFound
  ) throws(BlogError) -> String {
    guard BlogPaths.isKey(id) else { throw missing(id) }
    return id
  }
}
