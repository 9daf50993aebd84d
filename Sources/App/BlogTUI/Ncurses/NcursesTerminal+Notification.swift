import CNcurses

extension NcursesTerminal {
  /// Rings the bell, and shows a notification on the desktop where the terminal can do that.
  ///
  /// The sequence is the one of iTerm2 that several terminals have taken over; others ignore it.
  package func notify(_ text: SafeText) {
    bell()
    guard isOpen, nc_is_ansi() != 0 else { return }
    writeDirectly("\u{1B}]9;\(text.string)\u{07}")
  }
}
