extension Script {
  /// What somebody else does, who has a connection of their own.
  package enum Act: Hashable, Sendable {
    /// Comes, so that they are here.
    case join
    /// Leaves.
    case leave
    /// Writes a post.
    case post(title: String, body: String)
    /// Comments on the post of that title.
    case comment(title: String, text: String)
    /// Stars the post of that title, or takes the star back.
    case star(title: String, Bool)
    /// Deletes the post of that title.
    case delete(title: String)
    /// Begins to write a comment on the post of that title.
    case type(title: String)

    /// The title of the post that has to be there; nil for none.
    package var subject: String? {
      switch self {
      case .join, .leave, .post: nil
      case .comment(let title, _), .star(let title, _), .delete(let title), .type(let title): title
      }
    }

    /// Reads what follows the name; nil if it is nothing that somebody can do.
    init?(_ text: String) {
      let words = text.split(separator: " ", maxSplits: 1).map(String.init)
      let rest = words.count > 1 ? words[1] : ""
      let parts = rest.split(separator: "|", maxSplits: 1).map { String($0).trimmingBlanks }
      switch (words.first, parts.count) {
      case ("join", 0): self = .join
      case ("leave", 0): self = .leave
      case ("post", 2): self = .post(title: parts[0], body: parts[1])
      case ("comment", 2): self = .comment(title: parts[0], text: parts[1])
      case ("star", 1): self = .star(title: parts[0], true)
      case ("unstar", 1): self = .star(title: parts[0], false)
      case ("delete", 1): self = .delete(title: parts[0])
      case ("type", 1): self = .type(title: parts[0])
      default: return nil
      }
    }
  }

  /// How far somebody else is with what they do.
  package enum Progress: Hashable, Sendable {
    /// Not done yet.
    case underWay
    /// Done, and the database has it.
    case done
    /// Refused, for that reason.
    case refused(String)
  }
}
