internal import Dispatch
internal import RealtimeCore
internal import RealtimeDatabase

// Safety: all state is accessed only on the callback queue of the database.
/// Watches the newest comments on a few posts that are not open, so that the screen can announce
/// new ones.
///
/// There is one narrow query for each requested post. Only posts in view are requested, so the
/// number of queries does not depend on how long a list is or how far it was scrolled. While the
/// reader pages on, there are none for posts that only pass by.
final class CommentWatch: @unchecked Sendable {
  /// How many of a post's newest comments are loaded; beyond that the count is "at least this
  /// many".
  static let length = UInt(NewComments.limit)
  /// How many posts can be watched at once.
  static let limit = 100

  private struct Watched {
    let observation: Observation
    var isRefused = false
  }

  /// How long the same posts must have been requested before they are watched.
  private static let rest = DispatchTimeInterval.milliseconds(150)

  private let paths: BlogPaths
  private let tell: @Sendable (PostID, [Comment]) -> Void
  private var watched: [PostID: Watched] = [:]
  private var wanted: Set<PostID> = []
  private var isWaiting = false

  init(_ paths: BlogPaths, tell: @escaping @Sendable (PostID, [Comment]) -> Void) {
    self.paths = paths
    self.tell = tell
  }

  /// Watches these posts soon, and reports no others from now on; existing watches continue.
  func watch(_ posts: [PostID]) {
    wanted = Set(posts.prefix(Self.limit))
    if !isWaiting, wanted != Set(watched.keys) { waitForRest() }
  }

  /// Watches those anew that were refused.
  func restart() {
    watched = watched.filter { !$0.value.isRefused }
    watch(Array(wanted))
  }

  private func waitForRest() {
    let before = wanted
    isWaiting = true
    paths.queue.asyncAfter(deadline: .now() + Self.rest) { [weak self] in
      guard let self else { return }
      isWaiting = false
      if wanted == before { settle() } else { waitForRest() }
    }
  }

  private func settle() {
    watched = watched.filter { wanted.contains($0.key) }
    for post in wanted where watched[post] == nil {
      let query = paths.comments(on: post).queryOrderedByKey().queryLimited(toLast: Self.length)
      let observation = Observation(query) { [weak self] snapshot in
        self?.take(snapshot, on: post)
      } cancelled: { [weak self] _ in
        self?.watched[post]?.isRefused = true
      }
      watched[post] = Watched(observation: observation)
    }
  }

  private func take(_ snapshot: DataSnapshot, on post: PostID) {
    guard wanted.contains(post) else { return }
    tell(post, snapshot.childSnapshots.compactMap(Comment.init))
  }
}

/// How many comments others have written since a post was read.
package struct NewComments: Hashable, Sendable {
  /// The greatest number that is counted.
  package static let limit = 10

  package let count: Int
  /// Whether there may be more comments than `count`.
  package var isAtLeast: Bool { count >= Self.limit }

  /// Makes a count, capped at ``limit``.
  package init(count: Int) { self.count = min(count, Self.limit) }
}

/// The comments that a query selects, in the order of their keys, from the events of one observer.
struct OrderedComments {
  /// The comments, oldest first.
  private(set) var elements: [Comment] = []
  /// Whether the server has sent the contents of the query.
  private(set) var isLoaded = false
  /// Whether anything has changed since the comments were last read.
  private var isDirty = false

  /// Whether there is something to show: comments, or the certainty that there are none.
  var isKnown: Bool { isLoaded || !elements.isEmpty }

  /// The comment with this key; nil if it is not selected.
  ///
  /// - Complexity: O(log n)
  func comment(_ id: String) -> Comment? {
    let key = Comment.Key(id)
    let index = index(of: key)
    return index < elements.count && elements[index].key == key ? elements[index] : nil
  }

  /// Takes an event, and returns whether it is the first since the comments were last read.
  ///
  /// A child that cannot be read as a comment is left out.
  ///
  /// - Complexity: O(log n) to find the position, O(n) to insert there
  mutating func take(_ event: DataEventType, of snapshot: DataSnapshot) -> Bool {
    if event == .value {
      isLoaded = true
    } else {
      let key = Comment.Key(snapshot.key)
      let index = index(of: key)
      if index < elements.count, elements[index].key == key { elements.remove(at: index) }
      if event != .childRemoved, let comment = Comment(snapshot) {
        elements.insert(comment, at: index)
      }
    }
    defer { isDirty = true }
    return !isDirty
  }

  /// Marks the comments as read.
  mutating func clean() {
    isDirty = false
  }

  /// The index of the first comment whose key is not before this one.
  private func index(of key: Comment.Key) -> Int {
    guard let last = elements.last, key <= last.key else { return elements.count }
    return elements.partitioningIndex { $0.key >= key }
  }
}
