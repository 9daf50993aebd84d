import RealtimeCore

/// The posts, copies and comments that a commit may have changed.
struct TouchedPlaces: Sendable {
  /// A copy of a post.
  struct Copy: Hashable, Sendable {
    let owner: ChildKey
    let post: ChildKey
  }

  /// A comment on a post.
  struct Comment: Hashable, Sendable {
    let post: ChildKey
    let comment: ChildKey
  }

  /// The posts, also those of which a copy was touched.
  private(set) var posts: Set<ChildKey> = []
  private(set) var copies: Set<Copy> = []
  private(set) var comments: Set<Comment> = []

  init(_ paths: [Path], before: Node, after: Node) {
    for path in paths {
      switch path.first {
      case nil:
        for root in [ChildKey.posts, .userPosts, .postComments] {
          touch(Path([root]), before, after)
        }
      default: touch(path, before, after)
      }
    }
    posts.formUnion(copies.map(\.post))
  }

  private mutating func touch(_ path: Path, _ before: Node, _ after: Node) {
    /// The key that a path has at a depth, or all that there are.
    func keys(_ depth: Int, at place: Path) -> [ChildKey] {
      if path.count > depth { return [path.keys[depth]] }
      return Array(Set(before[place].keys).union(after[place].keys))
    }
    switch path.first {
    case .posts?: posts.formUnion(keys(1, at: path))
    case .userPosts?:
      for owner in keys(1, at: Path([.userPosts])) {
        for post in keys(2, at: Path([.userPosts, owner])) {
          copies.insert(Copy(owner: owner, post: post))
        }
      }
    case .postComments?:
      for post in keys(1, at: Path([.postComments])) {
        for comment in keys(2, at: Path([.postComments, post])) {
          comments.insert(Comment(post: post, comment: comment))
        }
      }
    default: break
    }
  }
}
