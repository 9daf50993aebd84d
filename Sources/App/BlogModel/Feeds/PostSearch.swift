internal import Dispatch
internal import RealtimeDatabase

package struct SearchProgress: Sendable, Equatable, Codable {
  package enum End: Sendable, Hashable, Codable {
    /// Every post was searched.
    case complete
    /// The maximum number of matches was found.
    case full
    /// A part of the list could not be read; carries the reason.
    case failed(String)
  }

  package let number: Int
  /// The matches since the last report, in descending order of their keys.
  package let found: [Post]
  package let searched: Int
  /// When the last of them was written, in milliseconds since 1970; nil if its key does not tell.
  package internal(set) var reached: Int64?
  /// How the search ended; nil while it is running.
  package internal(set) var end: End?
}

// Safety: the state is accessed only on `queue`.
/// Searches a whole list page by page, starting with the newest post, and keeps only the matches.
///
/// Each page is read once and dropped: nothing is observed or stored. The next page is requested
/// while the current one is searched. The page length adapts to what arrives in a moment, so that
/// progress is visible on a slow connection as well and Esc takes effect soon.
final class PostSearch: @unchecked Sendable {
  /// The maximum number of matches, which bounds the memory of a search.
  static let mostFound = 2_000
  /// The permitted page lengths, in posts.
  private static let lengths = 100...2_000
  /// How long a page may take, in seconds: below this range pages grow, above it they shrink.
  private static let moment = 0.1...0.3

  private let number: Int
  private let list: DatabaseQuery
  /// All comments, if they are searched as well.
  private let comments: DatabaseReference?
  private let matches: @Sendable (Post, [Comment]) -> Bool
  private let tell: @Sendable (SearchProgress) -> Void
  private let queue = DispatchQueue(label: "hearth.search", qos: .utility)
  private var length = 200
  private var searched = 0
  private var foundCount = 0
  private var reached: Int64?
  private var isOver = false

  /// Makes a search of all posts, ordered by their keys.
  ///
  /// Both closures are called on a queue of the search.
  init(
    _ number: Int,
    in list: DatabaseQuery,
    comments: DatabaseReference? = nil,
    matching matches: @escaping @Sendable (Post, [Comment]) -> Bool,
    tell: @escaping @Sendable (SearchProgress) -> Void
  ) {
    self.number = number
    self.list = list
    self.comments = comments
    self.matches = matches
    self.tell = tell
  }

  /// Starts with the newest posts.
  func start() { queue.async { self.read(before: nil) } }

  /// Ends the search; there are no further reports.
  func stop() { queue.async { self.isOver = true } }

  private func read(before key: String?) {
    guard !isOver else { return }
    let limit = length
    let start = DispatchTime.now()
    let query = key.map { list.queryEnding(beforeValue: $0) } ?? list
    query.queryLimited(toLast: UInt(limit)).peek { result in
      self.queue.async {
        switch result {
        case .failure(let error): self.report([], end: .failed(error.reason))
        case .success(let page):
          let passed = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
          self.adapt(to: passed)
          self.take(page.childSnapshots, isLast: page.childrenCount < limit)
        }
      }
    }
  }

  private func adapt(to seconds: Double) {
    let factor = seconds < Self.moment.lowerBound ? 2.0 : seconds > Self.moment.upperBound ? 0.5 : 1
    length = min(
      max(Int(Double(length) * factor), Self.lengths.lowerBound),
      Self.lengths.upperBound
    )
  }

  private func take(_ page: [DataSnapshot], isLast: Bool) {
    guard !isOver else { return }
    guard let comments, let first = page.first, let last = page.last else {
      // The next page is loaded while this one is searched.
      if !isLast, let first = page.first { read(before: first.key) }
      return search(page, isLast: isLast) { _ in [] }
    }
    comments.queryOrderedByKey().queryStarting(atValue: first.key).queryEnding(atValue: last.key)
      .peek { result in
        self.queue.async {
          // Rules may hide the comments, and the posts are searched nevertheless.
          let found = try? result.get()
          if !isLast { self.read(before: first.key) }
          self.search(page, isLast: isLast) { post in
            (found?.childSnapshot(forPath: post).childSnapshots ?? []).compactMap(Comment.init)
          }
        }
      }
  }

  private func search(
    _ page: [DataSnapshot],
    isLast: Bool,
    comments: (PostID) -> [Comment]
  ) {
    guard !isOver else { return }
    var found: [Post] = []
    for child in page.reversed() {
      guard let post = Post(child) else { continue }
      searched += 1
      reached = post.createdAt ?? reached
      if matches(post, comments(post.id)), foundCount + found.count < Self.mostFound {
        found.append(post)
      }
    }
    foundCount += found.count
    let isFull = foundCount >= Self.mostFound
    report(found, end: isFull ? .full : isLast ? .complete : nil)
  }

  private func report(_ found: [Post], end: SearchProgress.End?) {
    guard !isOver else { return }
    isOver = end != nil
    tell(
      SearchProgress(
        number: number,
        found: found,
        searched: searched,
        reached: reached,
        end: end
      )
    )
  }
}
