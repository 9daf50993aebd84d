package import RealtimeCore
package import RealtimeDatabase

/// Finds the inconsistencies in a blog that `hearth fsck` reports.
package struct BlogCheck: Sendable {
  package private(set) var postCount = 0
  package private(set) var commentCount = 0
  package private(set) var starCount = 0
  /// The inconsistencies, in the order of the check.
  package private(set) var faults: [BlogFault] = []
  /// Harmless remnants of posts and comments that are gone or have changed.
  package private(set) var leftovers: [BlogFault] = []

  /// Checks as much of a blog as the reader is allowed to read.
  ///
  /// Rules may hide what others have read from everyone but administrators, and thereby forbid
  /// reading the root. In that case only the posts, their copies and the comments are checked.
  ///
  /// - Throws: `DatabaseError` when the database cannot be read.
  package init(reading root: DatabaseReference) async throws {
    do {
      self.init(try await root.getData().node)
    } catch let error as DatabaseError where error.kind == .permissionDenied {
      var node = Node.empty
      for key in [ChildKey.posts, .userPosts, .postComments] {
        node.update(at: Path([key]), to: try await root.child(of: key).getData().node)
      }
      self.init(node)
    }
  }

  /// Checks a whole blog.
  ///
  /// In a correct blog, each post and its copy have the right star count and agree in every field,
  /// every copy belongs to a post, and every comment is on a post that exists.
  ///
  /// - Complexity: O(size)
  package init(_ node: Node) {
    let posts = node[.posts]
    let copies = node[.userPosts]
    for (id, post) in posts.entries {
      postCount += 1
      starCount += post[.stars].childCount
      check(post, at: Path([.posts, id]))
      check(copyOf: post, id: id, in: copies)
    }
    for (owner, list) in copies.entries {
      for (id, copy) in list.entries { check(copy, of: owner, id: id, post: posts[id]) }
    }
    for (id, comments) in node[.postComments].entries {
      commentCount += comments.childCount
      check(comments, on: id, post: posts[id])
    }
    checkTraces(in: node)
    for (uid, marked) in node[ChildKey("bookmarks")].entries {
      for (id, mark) in marked.entries where posts[id].isEmpty {
        reportLeftover(
          mark,
          of: id,
          at: Path(["bookmarks", uid, id]),
          problem: "is a bookmark of a missing post"
        )
      }
    }
    for (uid, state) in node[ChildKey("seen")].entries {
      for (id, count) in state[.stars].entries where posts[id].isEmpty {
        reportLeftover(count, of: id, at: Path(["seen", uid, .stars, id]))
      }
      for (id, mark) in state[ChildKey("posts")].entries where posts[id].isEmpty {
        reportLeftover(mark, of: id, at: Path(["seen", uid, "posts", id]))
      }
      for (slot, mark) in state[ChildKey("marks")].entries {
        guard case .string(let id)? = mark[ChildKey("post")].leafValue,
          Validation.problem(withKey: id) == nil, posts[ChildKey(id)].isEmpty
        else { continue }
        reportLeftover(mark, of: ChildKey(id), at: Path(["seen", uid, "marks", slot]))
      }
    }
  }

  /// Checks the traces that lead to posts and comments.
  private mutating func checkTraces(in node: Node) {
    let (traces, others) = BlogTrace.all(in: node)
    for trace in traces where !trace.isRight(about: node[trace.target]) {
      let problem =
        switch trace.kind {
        case .reply: "leads to a missing answer"
        case .mention: "leads to nothing that mentions \(trace.path.keys[1].text)"
        case .tag: "leads to no post with that tag"
        }
      leave(trace.path, problem: problem, remedy: .removeTrace(trace))
    }
    for path in others {
      report(path, problem: "leads nowhere", remedy: .person("find out what it is, or delete it"))
    }
  }

  // MARK: Posts

  private static let ownerless = BlogFault.Remedy.person("say whose it is, or delete it")

  /// Compares a post with the copy in its author's list.
  private mutating func check(copyOf post: Node, id: ChildKey, in copies: Node) {
    let path = Path([.posts, id])
    guard case .string(let name)? = post[.uid].leafValue, !name.isEmpty else {
      return report(path, problem: "has no author (uid)", remedy: Self.ownerless)
    }
    guard Validation.problem(withKey: name) == nil else {
      let problem = "has an author (uid) who cannot have posts"
      return report(path, problem: problem, remedy: Self.ownerless)
    }
    let owner = ChildKey(name)
    let copy = copies[owner][id]
    if copy.isEmpty {
      let problem = "has no copy at /user-posts/\(name)/\(id)"
      report(path, problem: problem, remedy: .followPost(id, owner: owner))
    } else if copy.withoutPriorities != post.withoutPriorities {
      let problem =
        "differs from /posts/\(id) in " + post.differences(from: copy).joined(separator: ", ")
      report(
        Path([.userPosts, owner, id]),
        problem: problem,
        remedy: .followPost(id, owner: owner)
      )
    }
  }

  /// Checks the values of a copy, and that there is a post by its owner.
  private mutating func check(
    _ copy: Node,
    of owner: ChildKey,
    id: ChildKey,
    post: Node
  ) {
    let path = Path([.userPosts, owner, id])
    if case .string(let author)? = post[.uid].leafValue, ChildKey(author) != owner {
      let remedy = BlogFault.Remedy.removeCopy(id, owner: owner, copy.json(.value).text)
      return report(path, problem: "is a copy of a post of \(author)", remedy: remedy)
    }
    check(copy, at: path)
    if post.isEmpty {
      let remedy = BlogFault.Remedy.remove(path, without: id, copy.json(.value).text)
      report(path, problem: "is a copy of a missing post", remedy: remedy)
    }
  }

  private mutating func check(_ post: Node, at path: Path) {
    checkValues(of: post, at: path)
    let stars = post[.stars].childCount
    let count = post[.starCount].leafValue?.number ?? 0
    if count != Double(stars) {
      report(
        path,
        problem:
          "starCount is \(post[.starCount].json(.value).text), "
          + "but there \(stars == 1 ? "is 1 star" : "are \(stars) stars")",
        remedy: .count(path)
      )
    }
    for (uid, star) in post[.stars].entries where star.leafValue != .bool(true) {
      report(
        path.appending(Path([.stars, uid])),
        problem: "is \(star.json(.value).text) instead of true",
        remedy: star.leafValue == .bool(false) ? .count(path) : .person("say whether it is a star")
      )
    }
  }

  // MARK: Comments

  private mutating func check(_ comments: Node, on id: ChildKey, post: Node) {
    let path = Path([.postComments, id])
    guard !post.isEmpty else {
      let remedy = BlogFault.Remedy.remove(path, without: id, comments.json(.value).text)
      return report(path, problem: "has comments on a missing post", remedy: remedy)
    }
    for (key, comment) in comments.entries {
      checkValues(of: comment, at: path.appending(key))
      check(parentOf: comment, key, at: path)
      if case .string(let uid)? = comment[.uid].leafValue, !uid.isEmpty { continue }
      report(path.appending(key), problem: "has no author (uid)", remedy: Self.ownerless)
    }
  }

  /// Checks that a comment has no parent, or one with an earlier key; the parent may be gone.
  private mutating func check(parentOf comment: Node, _ key: ChildKey, at path: Path) {
    let parent = comment[.parent]
    guard !parent.isEmpty else { return }
    let path = path.appending(key)
    guard case .string(let id)? = parent.leafValue, Validation.problem(withKey: id) == nil else {
      let decision = "say which comment it answers, or remove the parent"
      let problem = "answers something that cannot be a comment"
      return report(path, problem: problem, remedy: .person(decision))
    }
    if !(ChildKey(id) < key) {
      let decision = "remove the parent, or say which comment it answers"
      let problem = "answers \(id), which is not an earlier comment"
      report(path, problem: problem, remedy: .person(decision))
    }
  }

  /// Finds values that the rules of a blog forbid: priorities, and texts that are too long to be
  /// shown.
  private mutating func checkValues(of entry: Node, at path: Path) {
    if entry.withoutPriorities != entry {
      report(path, problem: "has a priority, or contains one", remedy: .dropPriorities(path))
    }
    if let problem = BlogBounds.problem(with: entry) {
      report(path, problem: problem, remedy: .person("shorten it, or delete it"))
    }
  }

  private mutating func reportLeftover(
    _ mark: Node,
    of post: ChildKey,
    at path: Path,
    problem: String = "says what was read of a missing post"
  ) {
    leave(path, problem: problem, remedy: .remove(path, without: post, mark.json(.value).text))
  }

  private mutating func leave(_ path: Path, problem: String, remedy: BlogFault.Remedy) {
    leftovers.append(BlogFault(path: path.description, problem: problem, remedy: remedy))
  }

  private mutating func report(_ path: Path, problem: String, remedy: BlogFault.Remedy) {
    faults.append(BlogFault(path: path.description, problem: problem, remedy: remedy))
  }
}

extension Node {
  var entries: [(key: ChildKey, value: Node)] { children.map { Array($0.map) } ?? [] }

  /// The keys of the children in which two nodes differ.
  fileprivate func differences(from other: Node) -> [String] {
    let keys = Set(entries.map(\.key)).union(other.entries.map(\.key))
    return keys.sorted().filter { self[$0].withoutPriorities != other[$0].withoutPriorities }
      .map(\.text)
  }

  /// The same data without any priorities.
  var withoutPriorities: Node {
    if let leafValue { return .leaf(leafValue) }
    return Node(sortedChildren: entries.map { ($0.key, $0.value.withoutPriorities) })
  }
}

package struct BlogFault: Hashable, Sendable, CustomStringConvertible {
  /// How to repair a fault: counts follow the stars, and copies follow the posts.
  package enum Remedy: Hashable, Sendable, CustomStringConvertible {
    /// Count the stars of the post or copy at a path, and remove false ones.
    case count(Path)
    /// Overwrite the owner's copy with the post.
    case followPost(ChildKey, owner: ChildKey)
    /// Remove all priorities from the post, copy or comment at a path.
    case dropPriorities(Path)
    /// Remove a person's copy of somebody else's post; the text is its former content.
    case removeCopy(ChildKey, owner: ChildKey, String)
    /// Remove what belongs to a deleted post; the text is its former content.
    case remove(Path, without: ChildKey, String)
    /// Remove a trace whose post or comment is gone or no longer contains what the trace claims.
    case removeTrace(BlogTrace)
    /// There is more than one right answer, so a person must decide.
    case person(String)

    package var description: String {
      switch self {
      case .count: "count the stars"
      case .followPost(let post, _): "make it equal /posts/\(post)"
      case .dropPriorities: "remove the priorities"
      case .removeCopy, .remove, .removeTrace: "remove it"
      case .person(let decision): "a person must decide: \(decision)"
      }
    }
  }

  package let path: String
  package let problem: String
  package let remedy: Remedy

  package var description: String { "\(path): \(problem)" }
}
