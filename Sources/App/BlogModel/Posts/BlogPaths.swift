internal import Dispatch
private import RealtimeCore
package import RealtimeDatabase

/// The locations of a blog's data, in the layout that the published samples share.
///
/// Ids come from command lines, files and servers. An illegal one is not a programmer error here:
/// it yields a location that holds nothing and to which the database refuses to write.
package struct BlogPaths: Sendable {
  package let root: DatabaseReference

  package init(_ root: DatabaseReference) {
    self.root = root
  }

  /// The queue on which the database calls back.
  var queue: DispatchQueue { root.database.callbackQueue }

  /// Whether a text can be the key of a post or comment; nothing can exist under any other.
  package static func isKey(_ text: String) -> Bool {
    !text.isEmpty && Validation.problem(withPath: Path([.postComments, ChildKey(text)])) == nil
  }

  /// The children of the root with what holds only while a terminal is connected.
  static let ephemeral: Set<String> = ["presence", "reading", "typing"]

  /// The children of the root with what a terminal writes by itself: nobody waits for its answer.
  static let untold = ephemeral.union(["seen"])

  package var posts: DatabaseReference { root.child("posts") }

  package func post(_ id: PostID) -> DatabaseReference { posts.child(of: ChildKey(id)) }

  /// The copies of one person's posts by key.
  package func posts(of uid: String) -> DatabaseReference { place(.userPosts, uid) }

  package func comments(on post: PostID) -> DatabaseReference { place(.postComments, post) }

  package var allComments: DatabaseReference { root.child("post-comments") }

  package func user(_ uid: String) -> DatabaseReference { place("users", uid) }

  /// Where a list of a person is stored.
  ///
  /// The posts with a tag and those of followed people are stored elsewhere; their lists only name
  /// them.
  func place(of feed: FeedKind, for uid: String) -> DatabaseReference {
    switch feed {
    case .recent, .top: posts
    case .mine, .myTop: posts(of: uid)
    case .author(let author): posts(of: author)
    case .tag(let tag): place(.tags, tag)
    case .following: following(by: uid)
    case .bookmarks: bookmarks(of: uid)
    }
  }

  /// A whole list in ascending order: the post displayed first comes last.
  package func list(_ feed: FeedKind, of uid: String) -> DatabaseQuery {
    let place = place(of: feed, for: uid)
    return feed.isByStars ? place.queryOrdered(byChild: "starCount") : place.queryOrderedByKey()
  }

  /// All posts of a list, ordered by key whatever the order of the list.
  ///
  /// For a tag, for followed people or bookmarks, this query covers all posts.
  package func all(_ feed: FeedKind, of uid: String) -> DatabaseQuery {
    switch feed {
    case .recent, .top, .tag, .following, .bookmarks: posts.queryOrderedByKey()
    case .mine, .myTop, .author: place(of: feed, for: uid).queryOrderedByKey()
    }
  }

  /// The identifiers of the people a person follows.
  package func following(by uid: String) -> DatabaseReference { place("following", uid) }

  /// The identifiers of the people whom a person has muted.
  package func muted(by uid: String) -> DatabaseReference { place("muted", uid) }

  /// The identifiers of the people who may not comment on a person's posts.
  package func blocked(by uid: String) -> DatabaseReference { place("blocked", uid) }

  /// The keys of the posts that a person has marked.
  package func bookmarks(of uid: String) -> DatabaseReference { place("bookmarks", uid) }

  /// The searches that a person has saved.
  package func searches(of uid: String) -> DatabaseReference { place("searches", uid) }

  /// The query of the first page of a list, in ascending order.
  package func query(_ feed: FeedKind, of uid: String) -> DatabaseQuery {
    list(feed, of: uid).queryLimited(toLast: Self.feedLength)
  }

  /// The online terminals of one person.
  package func presence(of uid: String) -> DatabaseReference { people.child(of: ChildKey(uid)) }

  /// The online terminals, by person and terminal.
  package var people: DatabaseReference { root.child("presence") }

  /// What one person reads, by terminal.
  package func reading(of uid: String) -> DatabaseReference { place("reading", uid) }

  /// The people who are writing a comment on a post.
  package func typing(on post: PostID) -> DatabaseReference { place("typing", post) }

  /// The read state of a person.
  package func seen(by uid: String) -> DatabaseReference { place("seen", uid) }

  /// The replies to one person's comments: the key of each reply and the post it is on.
  package func replies(to uid: String) -> DatabaseReference { place(.replies, uid) }

  /// The mentions of a name: the key of each post or comment, and its post.
  package func mentions(of name: String) -> DatabaseReference { place(.mentions, name) }

  private func place(_ list: ChildKey, _ key: String) -> DatabaseReference {
    root.child(of: list).child(of: ChildKey(key))
  }

  /// How many posts a page of a list has.
  package static let feedLength: UInt = 100
}

/// A list of posts.
package enum FeedKind: Hashable, Sendable, Codable {
  /// All posts, newest first.
  case recent
  /// All posts, those with the most stars first.
  case top
  /// The user's posts, newest first.
  case mine
  /// The user's posts, those with the most stars first.
  case myTop
  /// The posts of one person, newest first.
  case author(uid: String)
  /// The posts with a tag, newest first.
  case tag(String)
  /// The posts of the people the user follows, newest first.
  case following
  /// The posts that the user has marked, newest first.
  case bookmarks

  /// The lists that every user has, in the order of their tabs.
  package static let tabs: [FeedKind] = [.recent, .top, .mine, .myTop]

  /// Whether the list leaves out the posts of people whom the user has muted.
  package var leavesOutMuted: Bool {
    switch self {
    case .author, .bookmarks: false
    case .recent, .top, .mine, .myTop, .tag, .following: true
    }
  }

  /// Whether a post that the index of the list names belongs there; an index may be out of date.
  func has(_ post: Post) -> Bool {
    guard case .tag(let tag) = self else { return true }
    return TextMarks(of: post.title, post.body).tags.contains(tag)
  }

  /// The list with this name, as commands use it; nil if there is none.
  package init?(name: String) {
    if name.hasPrefix("#") {
      guard let tag = TextMarks.key(ofTag: name) else { return nil }
      self = .tag(tag)
      return
    }
    guard let kind = (Self.tabs + [.following, .bookmarks]).first(where: { $0.name == name }) else {
      return nil
    }
    self = kind
  }

  /// The name of the list in commands.
  package var name: String {
    switch self {
    case .recent: "recent"
    case .top: "top"
    case .mine: "mine"
    case .myTop: "mytop"
    case .author(let uid): "author \(uid)"
    case .tag(let tag): "#\(tag)"
    case .following: "following"
    case .bookmarks: "bookmarks"
    }
  }

  /// Whether the list is ordered by stars; otherwise it is ordered by age.
  package var isByStars: Bool { self == .top || self == .myTop }
}
