package import BlogModel

/// The posts of a list in its order, each identifier once, found again by where they were last.
///
/// A list of hundreds of posts comes anew with each change, and few of them are ever looked for: those
/// in view, one after the other.
package struct OrderedPosts: Equatable, Sendable {
  private let posts: [Post]

  /// Makes a list; of posts with one identifier the first stays.
  ///
  /// - Complexity: O(n)
  package init(_ posts: [Post] = []) {
    // By age, which is by key, this tells it all.
    let isDescending = zip(posts, posts.dropFirst()).allSatisfy { $0.id > $1.id }
    var seen: Set<PostID> = []
    self.posts = isDescending ? posts : posts.filter { seen.insert($0.id).inserted }
  }

  /// Where a post is; nil when it is not in the list.
  ///
  /// - Parameters:
  ///   - id: The post.
  ///   - guess: About where it may be; the search goes both ways from there.
  /// - Returns: The number of the post.
  /// - Complexity: O(d) in the distance from the guess, O(n) for what is not in the list
  package func place(of id: PostID, near guess: Int) -> Int? {
    var above = Swift.min(Swift.max(guess, 0), posts.count) - 1
    var below = above + 1
    while above >= 0 || below < posts.count {
      if below < posts.count {
        if posts[below].id == id { return below }
        below += 1
      }
      if above >= 0 {
        if posts[above].id == id { return above }
        above -= 1
      }
    }
    return nil
  }

  /// The posts that came in above the lowest post of an earlier list that is still there.
  ///
  /// - Complexity: O(n), of which only what the lists do not have in one run needs a set
  func added(since before: OrderedPosts) -> [Post] {
    guard let first = posts.first, let formerFirst = before.posts.first else { return [] }
    let start = place(of: formerFirst.id, near: 0)
    let formerStart = start == nil ? before.place(of: first.id, near: 0) : 0
    let run = (start ?? 0)..<endOfRun(from: start ?? 0, in: before, from: formerStart ?? 0)
    let formerRun = (formerStart ?? 0)..<((formerStart ?? 0) + run.count)
    var others = Set(before.posts[..<formerRun.lowerBound].map(\.id))
    others.formUnion(before.posts[formerRun.upperBound...].map(\.id))
    let rest = others.isEmpty ? nil : posts[run.upperBound...].lastIndex { others.contains($0.id) }
    let end = rest ?? (run.isEmpty ? nil : run.upperBound) ?? 0
    return posts[..<end].enumerated().filter { number, post in
      !run.contains(number) && !others.contains(post.id)
    }.map(\.element)
  }

  /// Where the posts end that follow each other in both lists.
  private func endOfRun(from start: Int, in before: OrderedPosts, from formerStart: Int) -> Int {
    let pairs = zip(posts[start...], before.posts[formerStart...])
    return start + pairs.prefix { $0.id == $1.id }.count
  }
}

extension OrderedPosts: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { posts.count }
  package subscript(index: Int) -> Post { posts[index] }
}
