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
  /// A page of text, such as the table of all keys.
  case help
  /// The line in which something is looked for in a page.
  case find
  /// The line in which a command is typed.
  case command
  /// A choice between many things, such as the palette.
  case chooser
  /// The inspector.
  case inspector

  /// Whether characters are typed as text here.
  package var isTyping: Bool {
    switch self {
    case .comment, .compose, .search, .find, .command, .chooser: true
    case .list, .post, .confirm, .help, .inspector: false
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
    case .help: "In a page such as this help"
    case .find: "Searching a page"
    case .command: "Typing a command"
    case .chooser: "Choosing"
    case .inspector: "In the inspector"
    }
  }

  /// The name by which configuration files and manual pages know the place.
  package var name: String {
    switch self {
    case .list: "list"
    case .post: "post"
    case .comment: "comment"
    case .compose: "compose"
    case .search: "search"
    case .confirm: "question"
    case .help: "page"
    case .find: "find"
    case .command: "command"
    case .chooser: "chooser"
    case .inspector: "inspector"
    }
  }
}
