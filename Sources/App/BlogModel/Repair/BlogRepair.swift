private import RealtimeCore
package import RealtimeDatabase

/// Repairs inconsistencies that have one right answer, while people use the blog.
///
/// Each location is changed by a transaction, so that no concurrent write is lost. Where the answer
/// depends on another location, that one is read again afterwards, and the repair starts over if it
/// has changed. Whoever writes last makes the two agree.
package struct BlogRepair: Sendable {
  /// What became of a fault.
  package enum Outcome: Hashable, Sendable {
    /// It is repaired; what was done.
    case repaired(String)
    /// It was gone when it was to be repaired.
    case gone
    /// It is still there; why.
    case left(String)
  }

  /// How often a repair begins anew because others were faster.
  private static let rounds = 40

  private let root: DatabaseReference

  /// Makes a repairer of the blog at the root of a database.
  package init(_ root: DatabaseReference) {
    self.root = root
  }

  /// Repairs a fault.
  ///
  /// - Parameter fault: What a check has found.
  /// - Returns: What was done; a refusal of the database is a reason to leave it.
  /// - Throws: `DatabaseError` when the database cannot be reached.
  package func repair(_ fault: BlogFault) async throws -> Outcome {
    do {
      switch fault.remedy {
      case .count(let path): return try await count(at: path)
      case .followPost(let post, let owner): return try await follow(post, of: owner)
      case .dropPriorities(let path):
        // That of the entry itself is a value of its own: the transaction is about what is below.
        if try await read(path).priority != nil { try await place(path).setPriority(nil) }
        try await change(path) { $0.withoutPriorities }
        return try await read(path).isEmpty ? .gone : .repaired("nothing in it has a priority")
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
    } catch let error as DatabaseError where error.code == .permissionDenied {
      return .left("the database does not allow it")
    } catch let error as DatabaseError
      where error.code == .maximumRetries || error.code == .overriddenBySet
    {
      return .left("others changed it too often meanwhile")
    }
  }

  // MARK: Reading and writing

  private func place(_ path: Path) -> DatabaseReference {
    path.keys.reduce(root) { $0.child(of: $1) }
  }

  private func read(_ path: Path) async throws -> Node { try await place(path).getData().node }

  /// Changes a place by what depends on its data alone.
  ///
  /// The closure is called again when others have changed the data meanwhile, and may first be called
  /// with none, as long as the database has not been asked.
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

  /// Whether a post is that of a person.
  private func isOwner(_ uid: ChildKey, of post: ChildKey) async throws -> Bool {
    try await read(Path([.posts, post, .uid])).leafValue == .string(uid.text)
  }

  private func follow(_ post: ChildKey, of owner: ChildKey) async throws -> Outcome {
    let copy = Path([.userPosts, owner, post])
    var hasWritten = false
    for _ in 0..<Self.rounds {
      let truth = try await read(Path([.posts, post])).withoutPriorities
      guard truth[.uid].leafValue == .string(owner.text) else {
        // It was deleted meanwhile, and what was written must not outlive it.
        if hasWritten { try await change(copy) { _ in .empty } }
        return .gone
      }
      if let problem = BlogBounds.problem(with: truth) {
        return .left("the post is none to copy: \(problem)")
      }
      if try await read(copy).withoutPriorities == truth {
        return hasWritten ? .repaired("it is what /posts/\(post) is") : .gone
      }
      try await change(copy) { _ in truth }
      hasWritten = true
    }
    return .left("others changed it too often meanwhile")
  }

  /// Removes what belongs to nothing, unless others have made it belong to something.
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
    for (uid, star) in post[.stars].children.map({ Array($0.map) }) ?? []
    where star.leafValue == .bool(false) {
      post.update(at: Path([.stars, uid]), to: .empty)
    }
    post.update(at: Path([.starCount]), to: .integer(Int64(post[.stars].childCount)))
    return post
  }
}
