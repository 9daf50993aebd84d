import BlogModel

/// Puts answers below what they answer.
enum CommentThreads {
  /// A comment as it is shown.
  struct Row: Equatable {
    let comment: Comment
    /// How many comments it answers, directly and through others; 0 for those about the post.
    let depth: Int
    /// How many answers there are to it, directly and through others.
    let answers: Int
    /// Whether those are hidden.
    let isFolded: Bool
  }

  /// The comments in the order in which they are shown: each followed by its answers, oldest first.
  ///
  /// Whatever was written, no comment is lost: an answer counts only to an earlier comment that is
  /// there, and is a comment like any other if there is none.
  ///
  /// - Parameters:
  ///   - comments: The comments, oldest first, each key once.
  ///   - folded: The keys of the comments whose answers are hidden.
  /// - Returns: The rows that are shown.
  /// - Complexity: O(n)
  static func rows(of comments: [Comment], folded: Set<String>) -> [Row] {
    var indices: [String: Int] = [:]
    var parents = [Int?](repeating: nil, count: comments.count)
    var children: [Int: [Int]] = [:]
    for (index, comment) in comments.enumerated() {
      // Only what came before is in the table, so that no circle can be closed.
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
    // A stack instead of recursion: a chain of answers may be as long as somebody likes.
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

  /// The keys of the comments that a comment answers, directly and through others.
  ///
  /// - Complexity: O(n) in the number of comments.
  static func ancestors(of id: String, in comments: [Comment]) -> [String] {
    var found: [String] = []
    var wanted = id
    // They all come before it, so that one look from the end finds them.
    for comment in comments.reversed() where comment.id == wanted {
      if comment.id != id { found.append(comment.id) }
      guard let parent = comment.parent else { break }
      wanted = parent
    }
    return found
  }
}
