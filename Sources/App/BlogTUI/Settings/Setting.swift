/// Something about the program that its user can choose.
package enum Setting: String, CaseIterable, Hashable, Sendable, Codable {
  /// The colours.
  case theme
  /// When colours are used.
  case color
  /// ASCII only.
  case ascii
  /// The mouse.
  case mouse
  /// The bell.
  case bell
  /// Whole frames at once.
  case synchronized = "synchronized-output"
  /// Where the cursor is while nothing is typed.
  case cursor
  /// The number of columns of text.
  case textWidth = "text-width"
  /// How many lines a post has in a list.
  case density
  /// How times are shown.
  case times
  /// A line between days.
  case dayRules = "day-rules"
  /// List and post side by side.
  case split
  /// Typing is told to others.
  case sendTyping = "send-typing"
  /// Typing of others is shown.
  case showTyping = "show-typing"
  /// Notifications.
  case notifications

  /// The values that a setting can have.
  package enum Kind: Hashable, Sendable {
    /// Yes or no.
    case flag
    /// One of these words.
    case choice([String])
    /// A number between these, which are allowed too.
    case number(ClosedRange<Int>)
    /// The name of a theme.
    case theme
  }

  /// The values it can have.
  package var kind: Kind {
    switch self {
    case .theme: .theme
    case .color: .choice(["auto", "always", "never"])
    case .ascii, .mouse, .bell, .synchronized, .sendTyping, .showTyping, .notifications,
      .dayRules:
      .flag
    case .cursor: .choice(["selection", "hidden"])
    case .textWidth: .number(40...400)
    case .density: .choice(["compact", "normal", "full"])
    case .times: .choice(["age", "date"])
    case .split: .choice(["auto", "never"])
    }
  }

  /// The value for those who choose nothing.
  package var standard: SettingValue {
    switch self {
    case .theme: .word("dark")
    case .color: .word("auto")
    case .ascii, .notifications, .dayRules: .flag(false)
    case .mouse, .bell, .synchronized, .sendTyping, .showTyping: .flag(true)
    case .cursor: .word("selection")
    case .textWidth: .number(100)
    case .density: .word("compact")
    case .times: .word("age")
    case .split: .word("auto")
    }
  }

  /// One sentence for manual pages and for the screen.
  package var help: String {
    switch self {
    case .theme: "The colours: dark, light, high-contrast, mono, or a file of your own."
    case .color: "Use colours: auto follows the terminal and NO_COLOR."
    case .ascii: "Draw with ASCII characters only."
    case .mouse: "Use the mouse; without it, the terminal selects text as usual."
    case .bell: "Ring the bell when something was refused."
    case .synchronized: "Show each change of the screen at once where the terminal can."
    case .cursor:
      "Keep the terminal's cursor on the selected row, for screen readers and magnifiers."
    case .textWidth: "The largest number of columns that text takes."
    case .density: "How many lines a post has in a list."
    case .times: "Show how long ago something was, or its date."
    case .dayRules: "Show a line with the date between the days of a list."
    case .split: "Show list and post side by side when the terminal is wide."
    case .sendTyping: "Let others see that you are writing a comment."
    case .showTyping: "Show who is writing a comment."
    case .notifications: "Tell of comments and stars on your posts with the bell."
    }
  }
}
