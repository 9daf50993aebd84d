private import RealtimeCore
package import RealtimeDatabase

/// Repairs inconsistencies that have one right answer, while people use the blog.
///
/// Each location is changed by a transaction, so that no concurrent write is lost. If the change
/// depends on another location, that one is read again afterwards, and the repair starts over if it
/// has changed. The last writer makes the two agree.
package struct BlogRepair: Sendable {
  package enum Outcome: Hashable, Sendable {
    /// The fault was repaired; carries what was done.
    case repaired(String)
    case gone
    /// The fault remains; carries the reason.
    case left(String)
  }

  /// How often a repair starts over because of concurrent changes.
  private static let rounds = 40

  private let root: DatabaseReference

  package init(_ root: DatabaseReference) {
    self.root = root
  }

  /// Repairs a fault; if the database refuses the change, the fault is left.
  ///
  /// - Throws: `DatabaseError` when the database cannot be reached.
  package func repair(_ fault: BlogFault) async throws -> Outcome {
    do {
      switch fault.remedy {
      case .count(let path): return try await count(at: path)
      case .followPost(let post, let owner): return try await follow(post, of: owner)
      case .dropPriorities(let path):
        // The entry's own priority is a separate value: the transaction covers only its
        // descendants.
        if try await read(path).priority != nil { try await place(path).setPriority(nil) }
        try await change(path) { $0.withoutPriorities }
        return try await read(path).isEmpty ? .gone : .repaired("it has no priorities")
      case .removeCopy(let post, let owner, let text):
        return try await remove(Path([.userPosts, owner, post]), with: text) {
          try await isOwner(owner, of: post)
        }
      case .remove(let path, let post, let text):
        return try await remove(path, with: text) { try await !read(Path([.posts, post])).isEmpty }
      case .removeTrace(let trace):
        return try await remove(trace.path, with: "a way to \(trace.target)") {
          try await trace.isRight(about: read(trace.target))
        }
      case .person(let decision): return .left("a person must decide: \(decision)")
      }
    } catch let error as DatabaseError where error.kind == .permissionDenied {
      return .left("the database does not allow it")
    } catch let error as DatabaseError
      where error.kind == .maximumRetries || error.kind == .overriddenBySet
    {
      return .left("others kept changing it")
    }
  }

  // MARK: Reading and writing

  private func place(_ path: Path) -> DatabaseReference {
    path.keys.reduce(root) { $0.child(of: $1) }
  }

  private func read(_ path: Path) async throws -> Node { try await place(path).getData().node }

  /// Changes a location as a function of its own data.
  ///
  /// The closure is called again if others have changed the data in the meantime. Its first call
  /// may see no data, because the server has not been asked yet.
  private func change(
    _ path: Path,
    _ wanted: @escaping @Sendable (Node) -> Node
  ) async throws {
    _ = try await place(path).runTransactionBlock(
      { .success(withValue: MutableData(wanted($0.node))) },
      withLocalEvents: false
    )
  }

  // MARK: Repairs

  private func count(at path: Path) async throws -> Outcome {
    try await change(path) { post in post.children == nil ? post : post.countingStars() }
    let post = try await read(path)
    guard !post.isEmpty else { return .gone }
    return .repaired("starCount is \(post[.starCount].json(.value).text)")
  }

  /// Whether a person is the author of a post.
  private func isOwner(_ uid: ChildKey, of post: ChildKey) async throws -> Bool {
    try await read(Path([.posts, post, .uid])).leafValue == .string(uid.text)
  }

  private func follow(_ post: ChildKey, of owner: ChildKey) async throws -> Outcome {
    let copy = Path([.userPosts, owner, post])
    var hasWritten = false
    for _ in 0..<Self.rounds {
      let truth = try await read(Path([.posts, post])).withoutPriorities
      guard truth[.uid].leafValue == .string(owner.text) else {
        // The post was deleted in the meantime, and a copy that was just written must not outlive
        // it.
        if hasWritten { try await change(copy) { _ in .empty } }
        return .gone
      }
      if let problem = BlogBounds.problem(with: truth) {
        return .left("the post cannot be copied: \(problem)")
      }
      if try await read(copy).withoutPriorities == truth {
        return hasWritten ? .repaired("it equals /posts/\(post)") : .gone
      }
      try await change(copy) { _ in truth }
      hasWritten = true
    }
    return .left("others kept changing it")
  }

  /// Removes what belongs to nothing, unless concurrent writes give it an owner.
  private func remove(
    _ path: Path,
    with text: String,
    unless isNeeded: () async throws -> Bool
  ) async throws -> Outcome {
    let found = try await read(path)
    if found.isEmpty { return .gone }
    if try await isNeeded() { return .gone }
    try await change(path) { $0 == found ? .empty : $0 }
    guard try await read(path).isEmpty else { return .left("others are changing it") }
    if try await isNeeded() {
      try await change(path) { $0.isEmpty ? found : $0 }
      return .gone
    }
    return .repaired("it was \(text)")
  }
}

extension Node {
  /// A post with its false stars removed and the others counted.
  fileprivate func countingStars() -> Node {
    var post = self
    for (uid, star) in post[.stars].entries where star.leafValue == .bool(false) {
      post.update(at: Path([.stars, uid]), to: .empty)
    }
    post.update(at: Path([.starCount]), to: .integer(Int64(post[.stars].childCount)))
    return post
  }
}

/// Removes the fragment that an edit creates if the post or comment was deleted before it arrived.
///
/// An edit writes single fields, in both copies at once, so that it does not touch the stars.
/// Security rules refuse the edit if the post is gone. An administrator, as on the private socket,
/// is refused nothing, so the edited fields would remain on their own. Such a fragment has no
/// author. It is removed in a transaction, so that no concurrent write is lost.
struct FragmentSweep: Sendable {
  let paths: BlogPaths
  let uid: String

  /// How many fragments one sweep handles.
  private static let limit: UInt = 100

  /// Calls back with whether a post exists after an edit, once no fragment of it is left.
  func check(_ post: PostID, completion: @escaping @Sendable (Result<Bool, any Error>) -> Void) {
    let key = ChildKey(post)
    removeFragment(at: paths.post(post)) { [paths, uid] result in
      guard case .success(false) = result else { return completion(result) }
      removeFragment(at: paths.posts(of: uid).child(of: key)) { completion($0.map { _ in false }) }
    }
  }

  /// Checks a comment after an edit.
  func check(
    _ comment: String,
    on post: PostID,
    completion: @escaping @Sendable (Result<Bool, any Error>) -> Void
  ) {
    let place = paths.comments(on: post).child(of: ChildKey(comment))
    removeFragment(at: place, completion: completion)
  }

  /// Removes the fragments of the user's posts that edits from an earlier run may have left.
  func sweep(completion: @escaping @Sendable () -> Void = {}) {
    let fragments = paths.posts(of: uid).queryOrdered(byChild: "uid").queryEqual(toValue: nil)
    fragments.queryLimited(toFirst: Self.limit).getData { _, snapshot in
      sweep((snapshot?.childSnapshots ?? []).map(\.key)[...], completion: completion)
    }
  }

  private func sweep(_ posts: ArraySlice<PostID>, completion: @escaping @Sendable () -> Void) {
    guard let post = posts.first else { return completion() }
    check(post) { _ in sweep(posts.dropFirst(), completion: completion) }
  }

  /// Removes a fragment, and reports whether a complete post or comment is there.
  private func removeFragment(
    at place: DatabaseReference,
    completion: @escaping @Sendable (Result<Bool, any Error>) -> Void
  ) {
    place.runTransactionBlock { data in
      // The data may be missing only locally; the server then runs the transaction with its own
      // data.
      guard data.hasChildren() else { return .success(withValue: data) }
      if data.childData(byAppendingPath: "uid").value is String { return .abort() }
      data.value = nil
      return .success(withValue: data)
    } andCompletionBlock: { error, isCommitted, _ in
      completion(error.map { .failure($0) } ?? .success(!isCommitted))
    }
  }
}
