import RealtimeCore

/// What must be in the database, and what may be, by what the clients were told.
struct Reckoning: Sendable {
  /// A star of one person on one post.
  struct Star: Hashable, Sendable {
    let post: String
    let uid: String
  }

  /// A thing that is written once, under a key of its own, and perhaps deleted.
  struct Thing: Sendable {
    /// Who wrote it.
    var creation: ClientOperation?
    /// Who deleted it, or a thing that it belongs to.
    var deletions: [ClientOperation] = []

    /// Whether it must be there.
    func mustExist(at period: Period) -> Bool {
      guard let creation, period.hasSettled(creation) else { return false }
      return !deletions.contains(where: period.mayHaveBegun)
    }

    /// Whether it may be there.
    func mayExist(at period: Period) -> Bool {
      guard let creation, period.mayHaveBegun(creation) else { return false }
      guard let written = creation.acknowledged else { return true }
      return !deletions.contains { period.hasSettled($0) && $0.invoked > written }
    }
  }

  /// A post with what was written into it.
  struct Post: Sendable {
    var thing = Thing()
    var titles = RegisterWrites<String>()
  }

  private(set) var posts: [String: Post] = [:]
  private(set) var comments: [CommentKey: Thing] = [:]
  private(set) var stars: [Star: RegisterWrites<Bool>] = [:]
  /// The data before the run.
  let initial: Node
  /// Places that an administrator has written.
  private(set) var administered: [Path] = []

  init(_ history: History, initial: Node) {
    self.initial = initial
    for operation in history.operations { add(operation) }
    for (key, _) in comments {
      let deletions = posts[key.post]?.thing.deletions ?? []
      comments[key]?.deletions += deletions
    }
  }

  private mutating func add(_ operation: ClientOperation) {
    switch operation.intent {
    case .post(let post, let title, _):
      posts[post, default: Post()].thing.creation = operation
      posts[post, default: Post()].titles.add(title, operation)
    case .editPost(let post, let title, _):
      posts[post, default: Post()].titles.add(title, operation)
    case .deletePost(let post): posts[post, default: Post()].thing.deletions.append(operation)
    case .comment(let post, let comment, _):
      comments[CommentKey(post, comment), default: Thing()].creation = operation
    case .deleteComment(let post, let comment):
      comments[CommentKey(post, comment), default: Thing()].deletions.append(operation)
    case .star(let post):
      stars[Star(post: post, uid: operation.uid), default: .init()].add(true, operation)
    case .unstar(let post):
      stars[Star(post: post, uid: operation.uid), default: .init()].add(false, operation)
    case .administer(let paths): administered += paths.map { Path(wire: $0) }
    case .increment, .read, .starAs, .editOther: break
    }
  }

  /// Whether an administrator has written at a place, so that nobody else has to answer for it.
  func isAdministered(_ path: Path) -> Bool {
    administered.contains { $0.contains(path) }
  }

  // MARK: Comparing

  /// Compares the comments of a reading with what must and may be there.
  func compareComments(
    in root: Node,
    at period: Period,
    _ place: String,
    _ findings: inout Findings
  ) {
    for (key, thing) in comments {
      let stored = root[key.path]
      if thing.mustExist(at: period) {
        findings.expect(!stored.isEmpty, at: place, "an acknowledged comment is lost") {
          ["\(key.path)", "\(thing.creation.map { "\($0)" } ?? "")"]
        }
      }
      guard !stored.isEmpty else { continue }
      findings.expect(
        thing.mayExist(at: period) || isOlder(key.path),
        at: place,
        "a comment is there that was refused, deleted or not yet written"
      ) { ["\(key.path) \(stored.summary)", "\(thing.creation.map { "\($0)" } ?? "nobody's")"] }
      guard case .comment(_, _, let text)? = thing.creation?.intent else { continue }
      findings.expect(
        stored.text(.commentText) == text && stored.text(.uid) == thing.creation?.uid,
        at: place,
        "a comment is not what was written"
      ) { ["\(key.path) \(stored.summary)", "written: \(text)"] }
    }
  }

  /// Compares the posts of a reading with what must and may be there.
  func comparePosts(in root: Node, at period: Period, _ place: String, _ findings: inout Findings) {
    for (key, post) in posts {
      let path = Path([.posts, ChildKey(key)])
      let stored = root[path]
      if post.thing.mustExist(at: period) {
        findings.expect(!stored.isEmpty, at: place, "an acknowledged post is lost") {
          ["\(path)", "\(post.thing.creation.map { "\($0)" } ?? "")"]
        }
      }
      guard !stored.isEmpty else { continue }
      findings.expect(
        post.thing.mayExist(at: period) || isOlder(path),
        at: place,
        "a post is there that was refused, deleted or not yet written"
      ) { ["\(path) \(stored.summary)"] }
      let titles = post.titles.possible(at: period, initial: initial[path].text(.title) ?? "")
      findings.expect(
        titles.contains(stored.text(.title) ?? ""),
        at: place,
        "a post has not the title that was written last"
      ) {
        ["\(path) \(stored.text(.title) ?? "")", "possible: \(titles.sorted())"]
          + post.titles.operations.map(\.description)
      }
    }
  }

  /// Compares the stars of a reading with what must and may be there.
  func compareStars(in root: Node, at period: Period, _ place: String, _ findings: inout Findings) {
    for (star, writes) in stars {
      let post = Path([.posts, ChildKey(star.post)])
      guard !root[post].isEmpty else { continue }
      let path = post.appending(Path([.stars, ChildKey(star.uid)]))
      let isStarred = !root[path].isEmpty
      let possible = writes.possible(at: period, initial: !initial[path].isEmpty)
      findings.expect(
        possible.contains(isStarred),
        at: place,
        isStarred ? "a star is there that was taken away" : "an acknowledged star is lost"
      ) { ["\(path)"] + writes.operations.map(\.description) }
    }
  }

  /// Whether something was there before the run.
  private func isOlder(_ path: Path) -> Bool { !initial[path].isEmpty }
}
