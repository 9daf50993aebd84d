import Glibc

/// Where a terminal is: its descriptors, and the type that the environment gives it.
struct TerminalDescriptors {
  /// Where keys come from.
  let input: Int32
  /// Where screens go.
  let output: Int32
  /// The name of its terminfo entry.
  let type: String?

  /// The terminal that the process was started in.
  static var standard: TerminalDescriptors {
    let type = getenv("TERM").map { String(cString: $0) }
    return TerminalDescriptors(input: STDIN_FILENO, output: STDOUT_FILENO, type: type)
  }
}
