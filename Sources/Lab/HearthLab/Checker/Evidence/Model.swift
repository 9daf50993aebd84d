import RealtimeCore

/// What must be and what may be in the database, according to the answers that clients received.
struct Model: Sendable {
  struct Star: Hashable, Sendable {
    let post: String
    let uid: String
  }

  /// Something that is written once, under its own key, and perhaps deleted.
  struct Thing: Sendable {
    var creation: ClientOperation?
    /// The operations that deleted it, or something that it belongs to.
    var deletions: [ClientOperation] = []

    func mustExist(at period: Period) -> Bool {
      guard let creation, period.hasSettled(creation) else { return false }
      return !deletions.contains(where: period.mayHaveBegun)
    }

    func mayExist(at period: Period) -> Bool {
      guard let creation, period.mayHaveBegun(creation) else { return false }
      guard let written = creation.acknowledged else { return true }
      return !deletions.contains { period.hasSettled($0) && $0.invoked > written }
    }
  }

  /// A post with the titles that were written to it.
  struct Post: Sendable {
    var thing = Thing()
    var titles = RegisterWrites<String>()
  }

  private(set) var posts: [String: Post] = [:]
  private(set) var comments: [CommentKey: Thing] = [:]
  private(set) var stars: [Star: RegisterWrites<Bool>] = [:]
  let initial: Node
  /// The paths that an administrator has written.
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
      posts[post, default: Post()].titles.add(title, by: operation)
    case .editPost(let post, let title, _):
      posts[post, default: Post()].titles.add(title, by: operation)
    case .deletePost(let post): posts[post, default: Post()].thing.deletions.append(operation)
    case .comment(let post, let comment, _):
      comments[CommentKey(post: post, comment: comment), default: Thing()].creation = operation
    case .deleteComment(let post, let comment):
      comments[CommentKey(post: post, comment: comment), default: Thing()].deletions.append(
        operation
      )
    case .star(let post):
      stars[Star(post: post, uid: operation.uid), default: .init()].add(true, by: operation)
    case .unstar(let post):
      stars[Star(post: post, uid: operation.uid), default: .init()].add(false, by: operation)
    case .administer(let paths): administered += paths.map { Path(wire: $0) }
    case .increment, .read, .starAs, .editOther: break
    }
  }

  /// Whether an administrator has written at a path, so that no client is responsible for it.
  func isAdministered(_ path: Path) -> Bool {
    administered.contains { $0.contains(path) }
  }

  // MARK: Comparing

  /// Compares something at a standstill with whether it must and may exist.
  ///
  /// - Returns: What is stored, or nil if nothing is.
  private func compare(
    _ thing: Thing,
    named name: String,
    at path: Path,
    in moment: Standstill,
    with findings: inout Findings
  ) -> Node? {
    let stored = moment.root[path]
    if thing.mustExist(at: moment.period) {
      findings.expect(
        !stored.isEmpty,
        at: moment.location,
        otherwise: "an acknowledged \(name) is lost"
      ) { ["\(path)", "\(thing.creation.map { "\($0)" } ?? "")"] }
    }
    guard !stored.isEmpty else { return nil }
    findings.expect(
      thing.mayExist(at: moment.period) || !initial[path].isEmpty,
      at: moment.location,
      otherwise: "a \(name) exists that was refused, deleted or not yet written"
    ) { ["\(path) \(stored.summary)", "\(thing.creation.map { "\($0)" } ?? "nobody's")"] }
    return stored
  }

  /// Compares the comments at a standstill with those that must and may exist.
  func compareComments(at moment: Standstill, with findings: inout Findings) {
    for (key, thing) in comments {
      let stored = compare(thing, named: "comment", at: key.path, in: moment, with: &findings)
      guard let stored, case .comment(_, _, let text)? = thing.creation?.intent else { continue }
      findings.expect(
        stored.text(.commentText) == text && stored.text(.uid) == thing.creation?.uid,
        at: moment.location,
        otherwise: "a comment is not what was written"
      ) { ["\(key.path) \(stored.summary)", "written: \(text)"] }
    }
  }

  /// Compares the posts at a standstill with those that must and may exist.
  func comparePosts(at moment: Standstill, with findings: inout Findings) {
    for (key, post) in posts {
      let path = Path([.posts, ChildKey(key)])
      let stored = compare(post.thing, named: "post", at: path, in: moment, with: &findings)
      guard let stored else { continue }
      let titles = post.titles.possible(
        at: moment.period,
        initial: initial[path].text(.title) ?? ""
      )
      findings.expect(
        titles.contains(stored.text(.title) ?? ""),
        at: moment.location,
        otherwise: "a post does not have the title that was written last"
      ) {
        ["\(path) \(stored.text(.title) ?? "")", "possible: \(titles.sorted())"]
          + post.titles.operations.map(\.description)
      }
    }
  }

  /// Compares the stars at a standstill with those that must and may exist.
  func compareStars(at moment: Standstill, with findings: inout Findings) {
    for (star, writes) in stars {
      let post = Path([.posts, ChildKey(star.post)])
      guard !moment.root[post].isEmpty else { continue }
      let path = post.appending(Path([.stars, ChildKey(star.uid)]))
      let isStarred = !moment.root[path].isEmpty
      let possible = writes.possible(at: moment.period, initial: !initial[path].isEmpty)
      findings.expect(
        possible.contains(isStarred),
        at: moment.location,
        otherwise: isStarred
          ? "a star exists that was removed" : "an acknowledged star is lost"
      ) { ["\(path)"] + writes.operations.map(\.description) }
    }
  }
}

/// The writes of one value, each of which replaces the previous one.
struct RegisterWrites<Value: Hashable & Sendable>: Sendable {
  private struct Write {
    let value: Value
    let operation: ClientOperation
  }

  private var writes: [Write] = []

  /// The operations that have written, or may have.
  var operations: [ClientOperation] { writes.map(\.operation) }

  mutating func add(_ value: Value, by operation: ClientOperation) {
    guard !operation.isRefused else { return }
    writes.append(Write(value: value, operation: operation))
  }

  /// The possible values at a moment when nothing is under way.
  ///
  /// A write may be the last one unless another that began after its acknowledgement was
  /// acknowledged as well. A write of unknown outcome may have happened at any time since, or
  /// never.
  ///
  /// - Parameters:
  ///   - period: Writes acknowledged by its start have happened; writes that began after its end
  ///     have not.
  ///   - initial: The value before all writes.
  /// - Returns: All possible values.
  /// - Complexity: O(writes)
  func possible(at period: Period, initial: Value) -> Set<Value> {
    var lastSettled: Moment?
    for write in writes where period.hasSettled(write.operation) {
      lastSettled = max(lastSettled ?? write.operation.invoked, write.operation.invoked)
    }
    var values: Set<Value> = lastSettled == nil ? [initial] : []
    for write in writes where period.mayHaveBegun(write.operation) {
      if let end = write.operation.acknowledged, let lastSettled, end < lastSettled { continue }
      values.insert(write.value)
    }
    return values
  }
}
