/// What a terminal reports: keys, and what happens to the program's hold on the terminal.
package enum TerminalEvent: Hashable, Sendable {
  /// A key, a paste, the mouse or a new size.
  case key(KeyEvent)
  /// The program was stopped and goes on; everything has to be drawn again.
  case resumed
  /// The waker woke the loop; whoever called it has left work somewhere.
  case woken
  /// The terminal is gone; the program should save and leave.
  case hangUp
  /// The system asks the program to leave with that signal.
  case terminate(signal: Int32)
}
