import BlogModel
import Testing

/// Compares every list that a screen received with what no list may do.
struct FeedObserver {
  /// The position of a post in a list.
  private struct Rank: Comparable {
    let stars: Int
    let id: PostID

    static func < (left: Rank, right: Rank) -> Bool {
      (left.stars, left.id) < (right.stars, right.id)
    }
  }

  let kind: FeedKind
  private let ranks: [Rank]

  /// Expects posts that were neither moved nor deleted, by their seed numbers.
  init(_ kind: FeedKind, untouched numbers: some Sequence<Int>) {
    self.kind = kind
    ranks = numbers.map { number in
      Rank(stars: kind.isByStars ? number % 50 : 0, id: BlogServer.key(number))
    }.sorted(by: >)
  }

  private func rank(_ post: Post) -> Rank {
    Rank(stars: kind.isByStars ? post.starCount : 0, id: post.id)
  }

  /// Describes the first list with a duplicate, a wrong order, or without one of the posts that
  /// always existed; nil if there is none.
  func fault(in screen: ScreenProbe) -> String? {
    let lists = screen.lists(kind)
    return lists.lazy.enumerated().compactMap { number, posts in
      fault(in: posts).map { "list \(number) of \(lists.count): \($0)" }
    }.first
  }

  private func fault(in posts: [Post]) -> String? {
    let shown = posts.map(rank)
    guard Set(posts.map(\.id)).count == posts.count else { return "a post is there twice" }
    guard zip(shown, shown.dropFirst()).allSatisfy({ $0 > $1 }) else { return "out of order" }
    guard let first = shown.first, let last = shown.last else { return nil }
    let ids = Set(posts.map(\.id))
    let missing = ranks.filter { $0 < first && $0 > last && !ids.contains($0.id) }
    return missing.isEmpty ? nil : "\(missing.count) are missing, \(missing[0].id) first"
  }
}
