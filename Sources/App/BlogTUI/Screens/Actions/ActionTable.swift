/// All actions there are.
enum ActionTable {
  /// The declarations, in the order of the help page.
  static let all: [BoundAction] =
    ListActions.motions + PostActions.motions + PageActions.motions + InspectorActions.motions
    + ListActions.all + PostActions.all + ReadingActions.all + ComposeActions.all
    + CommentActions.all + SearchActions.all + QuestionActions.all + ProgramActions.all
    + PageActions.all + CommandLineActions.all + ChooserActions.all + InspectorActions.all
    + ProgramActions.everywhere

  private static let declarations: [Context: [Action: BoundAction]] = all.reduce(into: [:]) {
    table,
    declaration in
    for context in declaration.binding.contexts {
      let action = declaration.binding.action
      if table[context]?[action] == nil { table[context, default: [:]][action] = declaration }
    }
  }

  /// What an action is in a context; nil if it has no meaning there.
  static func declaration(of action: Action, in context: Context) -> BoundAction? {
    declarations[context]?[action]
  }

  /// The hints of each context, the most important first.
  static let hints: [Context: [(action: Action, text: SafeText)]] = declarations.mapValues {
    $0.values.compactMap { declaration in
      declaration.hint.map { (rank: $0.rank, action: declaration.binding.action, text: $0.text) }
    }
    .sorted { $0.rank < $1.rank }
    .map { ($0.action, $0.text) }
  }
}

/// The table of all keys: what each does in each context.
package typealias KeyTable = KeyMap<Action, Context>

extension KeyMap where Meaning == Action, Mode == Context {
  /// The keys of those who have configured none.
  package static let standard = KeyTable(ActionTable.all.map(\.binding))
}
