/// A context for keys: the same key may mean different things in different contexts.
package struct Context: Hashable, Sendable {
  /// The name in configuration files and manual pages.
  package let name: String
  /// The heading on the help page.
  package let title: SafeText
  /// Whether characters are typed as text in this context.
  package let isTyping: Bool

  /// Declares a context; each has a unique name.
  init(_ name: String, title: SafeText, isTyping: Bool = false) {
    self.name = name
    self.title = title
    self.isTyping = isTyping
  }

  package static func == (left: Context, right: Context) -> Bool { left.name == right.name }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Context: CaseIterable {
  /// All contexts, in the order of the help page.
  package static let allCases: [Context] = [
    .list, .post, .comment, .compose, .search, .confirm, .help, .find, .command, .chooser,
    .settings, .inspector, .filter, .notices, .drafts,
  ]

  package static let list = Context("list", title: "In a list")
  package static let post = Context("post", title: "In a post")
  package static let comment = Context("comment", title: "Writing a comment", isTyping: true)
  package static let compose = Context("compose", title: "Writing a post", isTyping: true)
  package static let search = Context("search", title: "Searching", isTyping: true)
  package static let confirm = Context("question", title: "Answering a question")
  package static let help = Context("page", title: "In a page such as this help")
  /// The line in which a search text for a page is typed.
  package static let find = Context("find", title: "Searching a page", isTyping: true)
  package static let command = Context("command", title: "Typing a command", isTyping: true)
  /// A picker with many items, such as the palette.
  package static let chooser = Context("chooser", title: "Choosing", isTyping: true)
  package static let settings = Context("settings", title: "In the settings", isTyping: true)
  package static let inspector = Context("inspector", title: "In the inspector")
  /// The line in which a path for the inspector is typed.
  package static let filter = Context(
    "filter",
    title: "Filtering the inspector by path",
    isTyping: true
  )
}

extension Set<Context> {
  /// The contexts in which posts are read.
  static var reading: Set { [.list, .post] }
}

enum ActionTable {
  /// The declarations, in the order of the help page.
  static let all: [BoundAction] =
    ListActions.motions + PostActions.motions + PageActions.motions + InspectorActions.motions
    + ListActions.all + PostActions.all + ReadingActions.all + ComposeActions.all
    + CommentActions.all + SearchActions.all + QuestionActions.all + ProgramActions.all
    + PageActions.all + CommandLineActions.all + ChooserActions.all + SettingsActions.all
    + InspectorActions.all + NoticesActions.motions + NoticesActions.all
    + DraftsActions.motions + DraftsActions.all
    + ProgramActions.everywhere

  private static let declarations: [Context: [Action: BoundAction]] = all.reduce(into: [:]) {
    table,
    declaration in
    for context in declaration.binding.contexts {
      let action = declaration.binding.action
      if table[context]?[action] == nil { table[context, default: [:]][action] = declaration }
    }
  }

  static func declaration(of action: Action, in context: Context) -> BoundAction? {
    declarations[context]?[action]
  }

  /// The actions that one needs in each context, the most important first: where nothing else is
  /// said, those with hints.
  static let essentials: [Context: [Action]] = hints.mapValues { $0.map(\.action) }.merging([
    .list: [
      .open, .compose, .star, .search, "next-list", "next-unread", .notices, "undo", .palette,
      .quit,
    ],
    .post: [
      .comment, "answer", .star, "edit", .delete, "links", "author", "next-unread", .palette, .back,
    ],
  ]) { $1 }

  /// The hints of each context, the most important first; equal ranks are ordered by name.
  static let hints: [Context: [(action: Action, text: SafeText)]] = declarations.mapValues {
    $0.values.compactMap { declaration in
      declaration.hint.map { (rank: $0.rank, action: declaration.binding.action, text: $0.text) }
    }
    .sorted { ($0.rank, $0.action.name) < ($1.rank, $1.action.name) }
    .map { ($0.action, $0.text) }
  }
}
