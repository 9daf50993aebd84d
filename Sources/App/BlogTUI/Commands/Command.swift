/// A command that is no key's action, or that takes words.
package enum Command: String, CaseIterable, Hashable, Sendable {
  /// Choose a value.
  case set
  /// Choose the colours.
  case theme
  /// Give keys a meaning until the end.
  case bind
  /// Show all keys, or those that fit.
  case keys
  /// Show all keys, or those that fit.
  case help
  /// Look for posts.
  case search
  /// Open a post by its identifier.
  case openPost = "open-post"
  /// Write the screen to a file.
  case dumpScreen = "dump-screen"
  /// Write what was said to a file.
  case saveMessages = "save-messages"
  /// Cut this terminal off, or connect it again.
  case network = "net"
  /// Wait until nothing is under way.
  case waitIdle = "wait-idle"
  /// Leave.
  case quit

  /// The words that follow the name, for help.
  package var arguments: String {
    switch self {
    case .set: "NAME VALUE"
    case .theme: "NAME"
    case .bind: "PLACE KEYS ACTION"
    case .keys, .help: "[WORD]"
    case .search: "[WORD…]"
    case .openPost: "ID"
    case .dumpScreen, .saveMessages: "FILE"
    case .network: "[on|off]"
    case .waitIdle, .quit: ""
    }
  }

  /// What the command does, for help and manual pages.
  package var help: String {
    switch self {
    case .set: "choose a value and keep it in the configuration file"
    case .theme: "choose the colours and keep them in the configuration file"
    case .bind: "give keys another meaning until the program ends"
    case .keys, .help: "show all keys and commands, or those that contain the word"
    case .search: "search title, author and text"
    case .openPost: "open the post of that identifier"
    case .dumpScreen: "write what the screen shows to a file"
    case .saveMessages: "write all messages to a file"
    case .network: "cut this terminal off from the database, or connect it again"
    case .waitIdle: "in a script: wait until everything is acknowledged and quiet"
    case .quit: "quit"
    }
  }

  /// Whether the command does nothing useful without more words.
  package var needsArguments: Bool {
    switch self {
    case .set, .theme, .bind, .openPost, .dumpScreen, .saveMessages, .search: true
    case .keys, .help, .network, .waitIdle, .quit: false
    }
  }
}
