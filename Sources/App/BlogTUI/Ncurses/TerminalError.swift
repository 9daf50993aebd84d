/// Why a terminal cannot be used; the description says what to do about it.
package enum TerminalError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Standard input is a file or a pipe.
  case inputIsNoTerminal
  /// Standard output is a file or a pipe.
  case outputIsNoTerminal
  /// The environment does not name the type of the terminal.
  case typeIsMissing
  /// The terminal cannot move its cursor.
  case typeIsTooSimple(String)
  /// The terminal database has no entry for the type.
  case typeIsUnknown(String)
  /// The system refused something; the first string names what.
  case systemFailure(String, code: Int32)

  /// One line for the user: what is wrong and what helps.
  package var description: String {
    switch self {
    case .inputIsNoTerminal:
      return "standard input is not a terminal; run the program from a terminal window, "
        + "or use a subcommand"
    case .outputIsNoTerminal:
      return "standard output is not a terminal; do not redirect it, or use a subcommand"
    case .typeIsMissing:
      return "TERM is not set; set it to the type of your terminal, such as xterm-256color, "
        + "or use a subcommand"
    case .typeIsTooSimple(let type):
      return "a terminal of type \"\(type)\" cannot show screens; set TERM to the real type, "
        + "such as xterm-256color, or use a subcommand"
    case .typeIsUnknown(let type):
      return "no terminal of type \"\(type)\" is known; set TERM to a known type, "
        + "such as xterm-256color, or install its terminfo entry"
    case .systemFailure(let call, let code):
      return "\(call) failed with error number \(code); try another terminal"
    }
  }
}
