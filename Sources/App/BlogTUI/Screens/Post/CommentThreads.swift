import BlogModel

/// Arranges comments so that answers follow the comments that they answer.
enum CommentThreads {
  /// A comment as displayed.
  struct Row: Equatable {
    let comment: Comment
    /// The number of comments above it in its thread; 0 for a comment on the post.
    let depth: Int
    /// The number of answers to it, direct and indirect.
    let answers: Int
    /// Whether its answers are hidden.
    let isFolded: Bool
  }

  /// The comments in display order: each is followed by its answers, oldest first.
  ///
  /// No comment is lost, whatever the database contains: an answer is attached only to an earlier
  /// comment that exists; otherwise it is treated like any other comment.
  ///
  /// - Parameters:
  ///   - comments: The comments, oldest first, each key once.
  ///   - folded: The keys of the comments whose answers are hidden.
  /// - Returns: The visible rows.
  /// - Complexity: O(n)
  static func rows(of comments: [Comment], folded: Set<String>) -> [Row] {
    var indices: [String: Int] = [:]
    var parents = [Int?](repeating: nil, count: comments.count)
    var children: [Int: [Int]] = [:]
    for (index, comment) in comments.enumerated() {
      // Only earlier comments are in the table, so no cycle can arise.
      if let parent = comment.parent.flatMap({ indices[$0] }) {
        parents[index] = parent
        children[parent, default: []].append(index)
      }
      indices[comment.id] = index
    }
    guard !children.isEmpty else {
      return comments.map { Row(comment: $0, depth: 0, answers: 0, isFolded: false) }
    }
    var answers = [Int](repeating: 0, count: comments.count)
    for index in comments.indices.reversed() {
      if let parent = parents[index] { answers[parent] += answers[index] + 1 }
    }
    var rows: [Row] = []
    // A stack instead of recursion: a chain of answers may be arbitrarily long.
    var stack = comments.indices.reversed().filter { parents[$0] == nil }.map { ($0, 0) }
    while let (index, depth) = stack.popLast() {
      let comment = comments[index]
      let isFolded = answers[index] > 0 && folded.contains(comment.id)
      rows.append(
        Row(comment: comment, depth: depth, answers: answers[index], isFolded: isFolded)
      )
      guard !isFolded else { continue }
      for child in (children[index] ?? []).reversed() { stack.append((child, depth + 1)) }
    }
    return rows
  }

  /// The keys of the comments that a comment answers, directly or indirectly.
  ///
  /// - Complexity: O(n) in the number of comments.
  static func ancestors(of id: String, in comments: [Comment]) -> [String] {
    var found: [String] = []
    var wanted = id
    // They all come before it, so one pass from the end finds them.
    for comment in comments.reversed() where comment.id == wanted {
      if comment.id != id { found.append(comment.id) }
      guard let parent = comment.parent else { break }
      wanted = parent
    }
    return found
  }
}
