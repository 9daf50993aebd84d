/// The meaning of a key or a command; its name is its identity.
///
/// What an action does, in which contexts and with which keys, is declared once, as a
/// ``BoundAction``, in the folder of the screen to which it belongs. Only names that several files
/// use are listed here.
package struct Action: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name in commands, configuration files and manual pages.
  package let name: String

  package init(stringLiteral name: String) {
    self.name = name
  }
}

extension Action {
  package static let open: Action = "open"
  package static let back: Action = "back"
  package static let quit: Action = "quit"
  package static let compose: Action = "write"
  package static let comment: Action = "comment"
  package static let star: Action = "star"
  package static let search: Action = "search"
  package static let help: Action = "help"
  static let delete: Action = "delete"
  static let notices: Action = "notices"
  static let send: Action = "send"
  static let next: Action = "down"
  static let previous: Action = "up"
  static let yes: Action = "yes"
  static let no: Action = "no"
  static let top: Action = "top"
  static let copy: Action = "copy"
  static let redraw: Action = "redraw"
  static let suspend: Action = "suspend"
  static let commandLine: Action = "command-line"
  static let palette: Action = "palette"
  static let allKeys: Action = "all-keys"
}

/// Why an action does not apply in the current state.
enum DisabledReason: Equatable {
  /// There is nothing to act on, and the user can see that.
  case nothingThere
  /// The user gets this text.
  case note(String)
  /// The user gets this text as a failure.
  case failure(String)

  /// The message for the user; nil if none is needed.
  var message: Message? {
    switch self {
    case .nothingThere: nil
    case .note(let text): .notDone(text)
    case .failure(let text): .failure(text)
    }
  }
}

/// An action in one or more contexts: its keys, its description, when it applies, and what it does.
///
/// The key table, the help page, the hints in the footer, the palette, the completions of the
/// command line, the names in configuration files and the manual pages are all derived from these
/// declarations.
struct BoundAction: Sendable {
  typealias Condition = @Sendable (Model) -> DisabledReason?
  typealias Change = @Sendable (inout Model) -> [Effect]

  /// A hint in the footer: lower ranks come first, as far as there is room.
  typealias Hint = (text: SafeText, rank: Int)

  let binding: KeyBinding
  private(set) var hint: Hint?
  /// Returns why the action does not apply in the current state; nil if it does.
  private(set) var disabledReason: Condition = { _ in nil }
  let perform: Change

  /// Declares an action that has effects outside the model.
  init(
    _ action: Action,
    keys: [KeySequence],
    in contexts: Set<Context>,
    help: SafeText,
    perform: @escaping Change
  ) {
    binding = KeyBinding(keys: keys, action: action, contexts: contexts, help: help)
    self.perform = perform
  }

  /// Declares an action that only changes the model.
  init(
    _ action: Action,
    keys: [KeySequence],
    in contexts: Set<Context>,
    help: SafeText,
    change: @escaping @Sendable (inout Model) -> Void
  ) {
    self.init(action, keys: keys, in: contexts, help: help) { model -> [Effect] in
      change(&model)
      return []
    }
  }

  /// The action with a hint in the footer.
  func hint(_ text: SafeText, rank: Int) -> BoundAction {
    var action = self
    action.hint = (text, rank)
    return action
  }

  /// The action where it does not apply for the reason that is returned; nil if it does.
  func unless(_ reason: @escaping Condition) -> BoundAction {
    var action = self
    action.disabledReason = reason
    return action
  }
}

// MARK: Motions

extension BoundAction {
  /// Declares the keys that move through something longer than the screen, an action for each
  /// motion.
  static func motions(
    in context: Context,
    toTop: (keys: [KeySequence], help: SafeText) = (["g g", "Home"], "to the top"),
    hints: [Motion: Hint] = [:],
    move: @escaping @Sendable (inout Model, Motion) -> [Effect]
  ) -> [BoundAction] {
    func bind(_ name: Action, to keys: [KeySequence], help: SafeText, motion: Motion) -> BoundAction
    {
      var action = BoundAction(name, keys: keys, in: [context], help: help) { move(&$0, motion) }
      action.hint = hints[motion]
      return action
    }
    return [
      bind(.next, to: ["j", "Down", "^N"], help: "down", motion: .down),
      bind(.previous, to: ["k", "Up"], help: "up", motion: .up),
      bind("half-page-down", to: ["^D"], help: "half a page down", motion: .halfPageDown),
      bind("half-page-up", to: ["^U"], help: "half a page up", motion: .halfPageUp),
      bind("page-down", to: ["Space", "PgDn", "^F"], help: "a page down", motion: .pageDown),
      bind("page-up", to: ["b", "PgUp", "^B"], help: "a page up", motion: .pageUp),
      bind(.top, to: toTop.keys, help: toTop.help, motion: .top),
      bind("bottom", to: ["G", "End"], help: "to the bottom", motion: .bottom),
    ]
  }
}
