internal import Dispatch
internal import RealtimeDatabase

/// How far a search through a whole list has come.
package struct SearchProgress: Sendable, Equatable, Codable {
  /// How a search ended.
  package enum End: Sendable, Hashable, Codable {
    /// Every post was looked at.
    case complete
    /// So many posts were found that no more are kept.
    case full
    /// A part of the list could not be read, for that reason.
    case failed(String)
  }

  /// Which search it is.
  package let number: Int
  /// The posts that were found since the last report, in descending order of their keys.
  package let found: [Post]
  /// How many posts were looked at so far.
  package let searched: Int
  /// When the last of them was made, in milliseconds since 1970; nil when its key does not tell.
  package let reached: Int64?
  /// How the search ended; nil while it goes on.
  package let end: End?

  /// Makes a report.
  package init(number: Int, found: [Post], searched: Int, reached: Int64? = nil, end: End? = nil) {
    self.number = number
    self.found = found
    self.searched = searched
    self.reached = reached
    self.end = end
  }
}

// Safety: the state is touched only on `queue`.
/// Looks through a whole list, page by page from the newest post on, and keeps only what it finds.
///
/// Each page is read once and forgotten: nothing is observed, and nothing of it is stored. While one
/// page is looked through, the next is on its way. Pages are as long as arrive in a moment, so that a
/// slow connection shows progress too, and Esc does not have to wait.
final class PostSearch: @unchecked Sendable {
  /// How many posts a search finds at most, so that its memory is bounded.
  static let mostFound = 2_000
  /// The lengths that a page may have, in posts.
  private static let lengths = 100...2_000
  /// How long a page may be under way, in seconds: shorter ones grow, longer ones shrink.
  private static let moment = 0.1...0.3

  private let number: Int
  private let list: DatabaseQuery
  private let matches: @Sendable (Post) -> Bool
  private let tell: @Sendable (SearchProgress) -> Void
  private let queue = DispatchQueue(label: "hearth.search", qos: .utility)
  private var length = 200
  private var searched = 0
  private var foundCount = 0
  private var reached: Int64?
  private var isOver = false

  /// Makes a search.
  ///
  /// - Parameters:
  ///   - number: Names it in its reports.
  ///   - list: All posts, ordered by their keys.
  ///   - matches: Tells whether a post is looked for; called on a queue of the search.
  ///   - tell: Receives the reports, on a queue of the search.
  init(
    _ number: Int,
    in list: DatabaseQuery,
    matching matches: @escaping @Sendable (Post) -> Bool,
    tell: @escaping @Sendable (SearchProgress) -> Void
  ) {
    self.number = number
    self.list = list
    self.matches = matches
    self.tell = tell
  }

  /// Begins with the newest posts.
  func start() { queue.async { self.read(before: nil) } }

  /// Ends the search; nothing more is told.
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
          self.take(page, isLast: page.childrenCount < limit)
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

  private func take(_ page: DataSnapshot, isLast: Bool) {
    guard !isOver else { return }
    let children = page.childSnapshots
    if !isLast, let first = children.first {
      // The next page comes while this one is looked through.
      read(before: first.key)
    }
    var found: [Post] = []
    for child in children.reversed() {
      guard let post = Post(child) else { continue }
      searched += 1
      reached = post.createdAt ?? reached
      if matches(post), foundCount + found.count < Self.mostFound { found.append(post) }
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
