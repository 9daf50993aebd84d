package import RealtimeCore

/// Something in a blog that is not as it must be, and what is to be done about it.
package struct BlogFault: Hashable, Sendable, CustomStringConvertible {
  /// What is to be done; stars are the truth of counts, and posts that of copies.
  package enum Remedy: Hashable, Sendable, CustomStringConvertible {
    /// The stars of the post or copy at a path are counted, and those that are false removed.
    case count(Path)
    /// The copy that an owner has of a post becomes what the post is.
    case followPost(ChildKey, owner: ChildKey)
    /// Nothing in the post, copy or comment at a path keeps a priority.
    case dropPriorities(Path)
    /// The copy that somebody has of another's post goes; the text is what it was.
    case removeCopy(ChildKey, owner: ChildKey, String)
    /// What belongs to a post that is gone goes as well; the text is what it was.
    case remove(Path, without: ChildKey, String)
    /// There is more than one right answer, so that a person must decide.
    case person(String)

    /// What is to be done, in words.
    package var description: String {
      switch self {
      case .count: "count the stars"
      case .followPost(let post, _): "make it what /posts/\(post) is"
      case .dropPriorities: "remove the priorities"
      case .removeCopy, .remove: "remove it"
      case .person(let decision): "a person must decide: \(decision)"
      }
    }

    /// Whether no person is needed.
    package var isAutomatic: Bool {
      switch self {
      case .count, .followPost, .dropPriorities, .removeCopy, .remove: true
      case .person: false
      }
    }
  }

  /// Where.
  package let path: String
  /// What is wrong.
  package let problem: String
  /// What is to be done.
  package let remedy: Remedy

  /// Makes a fault.
  package init(path: String, problem: String, remedy: Remedy) {
    self.path = path
    self.problem = problem
    self.remedy = remedy
  }

  /// The place and the problem in one line.
  package var description: String { "\(path): \(problem)" }
}
