package import BlogModel
package import TerminalUI

/// One list of posts as the screen shows it.
///
/// States: idle → loading → loaded ⇄ failed. Posts stay in view when a list can no longer be read.
package struct Feed: Equatable, Sendable {
  /// What is known of the list.
  package enum Phase: Hashable, Sendable {
    /// Nobody has looked at it yet.
    case idle
    /// The first answer has not come.
    case loading
    /// The posts are what the database says.
    case loaded
    /// The list can no longer be read, for that reason.
    case failed(String)
  }

  /// What is known of the list.
  package internal(set) var phase = Phase.idle
  /// All posts, in the order of the list, each identifier once.
  package private(set) var posts: [Post] = []
  /// The rows in view and the selected one; fewer than the posts during a search.
  package internal(set) var list = ListView<PostID>()
  /// The post that is to be selected as soon as it is there.
  package internal(set) var awaited: PostID?

  private var places: [PostID: Int] = [:]
  private var unseen: Set<PostID> = []

  /// The post of that key, if it is in the list.
  package func post(_ id: PostID) -> Post? { places[id].map { posts[$0] } }

  /// The selected post.
  package var selectedPost: Post? { list.selection.flatMap { post($0) } }

  /// The number of posts that came above what is in view and were not seen yet.
  package var unseenCount: Int {
    unseen.isEmpty ? 0 : list.ids[..<list.top].count { unseen.contains($0) }
  }

  /// Replaces the posts; the selected one stays on its line of the screen.
  mutating func update(_ new: [Post], matching pattern: SearchPattern?, me: String) {
    let isFirst = phase == .loading || phase == .idle
    let before = places
    phase = .loaded
    posts = []
    places = [:]
    for post in new where places[post.id] == nil {
      places[post.id] = posts.count
      posts.append(post)
    }
    if !isFirst {
      for post in posts where before[post.id] == nil && post.uid != me { unseen.insert(post.id) }
    }
    unseen = unseen.filter { places[$0] != nil }
    filter(pattern)
    if let id = awaited, list.select(id) { awaited = nil }
    markSeen()
  }

  /// Shows only the posts that match, or all.
  mutating func filter(_ pattern: SearchPattern?) {
    guard let pattern else { return list.update(ids: posts.map(\.id)) }
    list.update(ids: posts.lazy.filter { pattern.matches($0) }.map(\.id))
  }

  /// Forgets that posts are new once they are in view.
  mutating func markSeen() {
    guard !unseen.isEmpty else { return }
    unseen.subtract(list.visibleIDs)
  }
}
