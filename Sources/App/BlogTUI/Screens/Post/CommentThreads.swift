import BlogModel

/// Comments in display order: each is followed by its answers, oldest first.
///
/// No comment is lost, whatever the database contains: an answer is attached only to an earlier
/// comment that exists; otherwise it is treated like any other comment.
///
/// It refers to the comments and does not copy them. As long as nobody has answered, their own
/// order is the order, and it takes no memory.
struct CommentThreads: Equatable {
  struct Row: Equatable {
    let comment: Comment
    /// The number of comments above it in its thread; 0 for a comment on the post.
    let depth: Int
    /// The number of answers to it, direct and indirect.
    let answers: Int
    /// Whether its answers are hidden.
    let isFolded: Bool
  }

  private struct Place: Equatable {
    let index: Int32
    let depth: Int32
    let answers: Int32
    let isFolded: Bool
  }

  /// All comments, oldest first, including those that are hidden.
  private(set) var all: [Comment] = []
  /// The visible comments in display order; nil if those are all in their own order.
  private var places: [Place]?

  /// The visible rows of comments, which come oldest first, each key once.
  ///
  /// The answers to folded comments are hidden.
  ///
  /// - Complexity: O(n)
  static func rows(of comments: [Comment], folded: Set<String>) -> CommentThreads {
    CommentThreads(all: comments, places: places(of: comments, folded: folded))
  }

  private static func places(of comments: [Comment], folded: Set<String>) -> [Place]? {
    guard comments.contains(where: { $0.parentKey != nil }) else { return nil }
    var indices: [Comment.Key: Int] = [:]
    var parents = [Int?](repeating: nil, count: comments.count)
    var children: [Int: [Int]] = [:]
    for (index, comment) in comments.enumerated() {
      // Only earlier comments are in the table, so no cycle can arise.
      if let parent = comment.parentKey.flatMap({ indices[$0] }) {
        parents[index] = parent
        children[parent, default: []].append(index)
      }
      indices[comment.key] = index
    }
    guard !children.isEmpty else { return nil }
    let folded = Set(folded.map(Comment.Key.init))
    var answers = [Int](repeating: 0, count: comments.count)
    for index in comments.indices.reversed() {
      if let parent = parents[index] { answers[parent] += answers[index] + 1 }
    }
    var places: [Place] = []
    // A stack instead of recursion: a chain of answers may be arbitrarily long.
    var stack = comments.indices.reversed().filter { parents[$0] == nil }.map { ($0, 0) }
    while let (index, depth) = stack.popLast() {
      let isFolded = answers[index] > 0 && folded.contains(comments[index].key)
      places.append(
        Place(
          index: Int32(clamping: index),
          depth: Int32(clamping: depth),
          answers: Int32(clamping: answers[index]),
          isFolded: isFolded
        )
      )
      guard !isFolded else { continue }
      for child in (children[index] ?? []).reversed() { stack.append((child, depth + 1)) }
    }
    return places
  }

  var comments: [Comment] { places?.map { all[Int($0.index)] } ?? all }

  func comment(at index: Int) -> Comment { all[places.map { Int($0[index].index) } ?? index] }

  /// The index of a visible comment; nil if it is not visible.
  func index(of id: String) -> Int? {
    let key = Comment.Key(id)
    return indices.first { comment(at: $0).key == key }
  }

  /// The keys of the comments that a comment answers, directly or indirectly.
  ///
  /// - Complexity: O(n) in the number of comments.
  static func ancestors(of id: String, in comments: [Comment]) -> [String] {
    var found: [String] = []
    var wanted = Comment.Key(id)
    // They all come before it, so one pass from the end finds them.
    for comment in comments.reversed() where comment.key == wanted {
      if comment.id != id { found.append(comment.id) }
      guard let parent = comment.parentKey else { break }
      wanted = parent
    }
    return found
  }
}

extension CommentThreads: RandomAccessCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { places?.count ?? all.count }

  subscript(index: Int) -> Row {
    guard let place = places?[index] else {
      return Row(comment: all[index], depth: 0, answers: 0, isFolded: false)
    }
    return Row(
      comment: all[Int(place.index)],
      depth: Int(place.depth),
      answers: Int(place.answers),
      isFolded: place.isFolded
    )
  }
}
