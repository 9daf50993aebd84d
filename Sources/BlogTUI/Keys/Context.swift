package import TerminalUI

/// Where keys are typed; the same key may mean different things in different places.
package enum Context: CaseIterable, Hashable, Sendable {
  /// A list of posts.
  case list
  /// An open post.
  case post
  /// The line in which a comment is written.
  case comment
  /// The form in which a post is written.
  case compose
  /// The line in which a search is typed.
  case search
  /// A question.
  case confirm
  /// The table of all keys.
  case help

  /// Whether characters are typed as text here.
  package var isTyping: Bool {
    switch self {
    case .comment, .compose, .search: true
    case .list, .post, .confirm, .help: false
    }
  }

  /// The heading of the help screen.
  package var title: SafeText {
    switch self {
    case .list: "In a list"
    case .post: "In a post"
    case .comment: "Writing a comment"
    case .compose: "Writing a post"
    case .search: "Searching"
    case .confirm: "Answering a question"
    case .help: "In this help"
    }
  }
}
