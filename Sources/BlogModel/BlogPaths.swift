package import RealtimeDatabase
private import RealtimeTree

/// Where things are kept: the layout that the published samples share.
///
/// Ids come from command lines, files and servers. An illegal one is no programmer error here: it makes
/// a place that holds nothing and that the database refuses to write.
package struct BlogPaths: Sendable {
  /// The database.
  package let root: DatabaseReference

  /// Makes the paths of a blog at the root of a database.
  package init(_ root: DatabaseReference) {
    self.root = root
  }

  /// All posts by key.
  package var posts: DatabaseReference { root.child("posts") }

  /// A post.
  package func post(_ id: PostID) -> DatabaseReference { posts.child(of: ChildKey(id)) }

  /// The copies of one person's posts by key.
  package func posts(of uid: String) -> DatabaseReference {
    root.child("user-posts").child(of: ChildKey(uid))
  }

  /// The comments on a post by key.
  package func comments(on post: PostID) -> DatabaseReference {
    root.child("post-comments").child(of: ChildKey(post))
  }

  /// What is known of a person.
  package func user(_ uid: String) -> DatabaseReference {
    root.child("users").child(of: ChildKey(uid))
  }

  /// The query of a list, in ascending order: what is shown first comes last.
  package func query(_ feed: FeedKind, of uid: String) -> DatabaseQuery {
    switch feed {
    case .recent: posts.queryLimited(toLast: Self.feedLength)
    case .top: posts.queryOrdered(byChild: "starCount").queryLimited(toLast: Self.feedLength)
    case .mine: posts(of: uid).queryLimited(toLast: Self.feedLength)
    case .myTop:
      posts(of: uid).queryOrdered(byChild: "starCount").queryLimited(toLast: Self.feedLength)
    }
  }

  /// How many posts a list has at the most.
  package static let feedLength: UInt = 100
}
