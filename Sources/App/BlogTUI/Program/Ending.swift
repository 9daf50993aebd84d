/// Why a program ended.
package enum Ending: Hashable, Sendable {
  /// The user left.
  case quit
  /// The user wants to be someone else.
  case changeAccount
  /// The terminal is gone.
  case hangUp
  /// The system asked the program to leave with that signal.
  case terminated(signal: Int32)
}
