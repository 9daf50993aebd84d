import Foundation

/// Reads a password from a person or a program, never from the command line, which others can see.
enum PasswordInput {
  /// The most bytes of a line.
  private static let longest = 64 * 1_024

  /// The first line of stdin.
  ///
  /// - Throws: ``CommandFailure`` when it is missing, empty or not text.
  static func fromStandardInput() throws(CommandFailure) -> String {
    try line(from: STDIN_FILENO, or: "stdin has no password")
  }

  /// Asks for a password at the terminal, without echo; a new one twice, because a typing error
  /// would show only later.
  ///
  /// - Throws: ``CommandFailure`` when there is no terminal, or when the two passwords differ.
  static func fromTerminal(_ prompt: String, isNew: Bool = false) throws(CommandFailure) -> String {
    let password = try ask("\(prompt): ")
    if isNew, try ask("\(prompt) again: ") != password {
      throw CommandFailure(.usage, "the two passwords are not the same")
    }
    return password
  }

  /// Asks at the terminal for a text that may be shown, such as an address.
  ///
  /// - Throws: ``CommandFailure`` when there is no terminal, or no answer.
  static func text(_ prompt: String) throws(CommandFailure) -> String {
    let terminal = try openTerminal(instead: "give an option instead")
    defer { close(terminal) }
    show("\(prompt): ", at: terminal)
    return try line(from: terminal, or: "no answer was given")
  }

  private static func openTerminal(instead advice: String) throws(CommandFailure) -> Int32 {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    if terminal >= 0 { return terminal }
    throw CommandFailure(.usage, "there is no terminal to ask at; \(advice)")
  }

  private static func ask(_ prompt: String) throws(CommandFailure) -> String {
    let terminal = try openTerminal(instead: "use --password-stdin")
    defer { close(terminal) }
    var settings = termios()
    guard tcgetattr(terminal, &settings) == 0 else {
      throw CommandFailure(.usage, "the terminal cannot hide a password; use --password-stdin")
    }
    var hidden = settings
    hidden.c_lflag &= ~tcflag_t(ECHO)
    // A signal here would leave the terminal without echo, so signals are blocked until the end.
    var signals = sigset_t()
    var earlier = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, &earlier)
    tcsetattr(terminal, TCSAFLUSH, &hidden)
    defer {
      tcsetattr(terminal, TCSAFLUSH, &settings)
      show("\n", at: terminal)
      pthread_sigmask(SIG_SETMASK, &earlier, nil)
    }
    show(prompt, at: terminal)
    return try line(from: terminal, or: "no password was given")
  }

  private static func show(_ text: String, at terminal: Int32) {
    let bytes = Array(text.utf8)
    _ = write(terminal, bytes, bytes.count)
  }

  private static func line(
    from descriptor: Int32,
    or complaint: String
  ) throws(CommandFailure) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = read(descriptor, &byte, 1)
      if count < 0, SharedStream.isRepeated(descriptor, for: POLLIN) { continue }
      guard count == 1, byte != UInt8(ascii: "\n") else { break }
      guard bytes.count < longest else {
        throw CommandFailure(.usage, "the input is a line of more than \(longest) bytes")
      }
      bytes.append(byte)
    }
    if byte == UInt8(ascii: "\n"), bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    let text = bytes.withoutByteOrderMark
    guard !text.isEmpty else { throw CommandFailure(.usage, complaint) }
    // With marks in the place of other bytes, different passwords would be the same.
    guard let text = String(validating: text, as: UTF8.self) else {
      throw CommandFailure(.usage, "the input is not UTF-8 text")
    }
    return text
  }
}
