package import RealtimeDatabase
private import RealtimeTree

/// Looks for contradictions in a blog: what "fsck" reports.
package struct BlogCheck: Sendable {
  /// Something that is not as it must be.
  package struct Fault: Hashable, Sendable, CustomStringConvertible {
    /// Where.
    package let path: String
    /// What is wrong.
    package let problem: String

    /// The place and the problem in one line.
    package var description: String { "\(path): \(problem)" }
  }

  /// How many posts were looked at.
  package private(set) var postCount = 0
  /// How many comments were looked at.
  package private(set) var commentCount = 0
  /// How many stars were counted.
  package private(set) var starCount = 0
  /// What is wrong, in the order of the paths.
  package private(set) var faults: [Fault] = []

  /// Checks a whole blog.
  ///
  /// Every post has the right count of its stars, in both places where it is kept; the two copies
  /// agree in every field; no copy is without its post; no comment is without its post.
  ///
  /// - Parameter root: The data of the whole database.
  /// - Complexity: O(size)
  package init(_ root: DataSnapshot) {
    let node = root.node
    let posts = node[.posts]
    let copies = node[.userPosts]
    for (id, post) in posts.entries {
      postCount += 1
      check(post, at: "/posts/\(id)")
      guard case .string(let owner)? = post[.uid].leafValue, !owner.isEmpty else {
        report("/posts/\(id)", "has no author (uid)")
        continue
      }
      let copy = copies[ChildKey(owner)][id]
      if copy.isEmpty {
        report("/posts/\(id)", "has no copy at /user-posts/\(owner)/\(id)")
      } else if copy != post {
        let fields = post.differences(from: copy).joined(separator: ", ")
        report("/user-posts/\(owner)/\(id)", "differs from /posts/\(id) in \(fields)")
      }
    }
    for (owner, list) in copies.entries {
      for (id, copy) in list.entries {
        check(copy, at: "/user-posts/\(owner)/\(id)")
        if posts[id].isEmpty { report("/user-posts/\(owner)/\(id)", "is a copy of no post") }
      }
    }
    for (id, comments) in node[.postComments].entries {
      commentCount += comments.childCount
      if posts[id].isEmpty { report("/post-comments/\(id)", "has comments on no post") }
    }
  }

  private mutating func check(_ post: Node, at path: String) {
    let stars = post[.stars].childCount
    if path.hasPrefix("/posts/") { starCount += stars }
    let count = post[.starCount].leafValue?.number ?? 0
    if count != Double(stars) {
      report(
        path,
        "starCount is \(post[.starCount].json(.value).text), but there are \(stars) stars"
      )
    }
    for (uid, star) in post[.stars].entries where star.leafValue != .bool(true) {
      report("\(path)/stars/\(uid)", "is \(star.json(.value).text) instead of true")
    }
  }

  private mutating func report(_ path: String, _ problem: String) {
    faults.append(Fault(path: path, problem: problem))
  }
}

extension Node {
  fileprivate var entries: [(key: ChildKey, value: Node)] { children.map { Array($0.map) } ?? [] }

  /// The names of the children in which two nodes differ.
  fileprivate func differences(from other: Node) -> [String] {
    let keys = Set(entries.map(\.key)).union(other.entries.map(\.key))
    return keys.sorted().filter { self[$0] != other[$0] }.map(\.text)
  }
}
