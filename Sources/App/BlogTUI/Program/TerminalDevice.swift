/// What the program needs of a terminal: the port between the screens and ncurses.
@MainActor
package protocol TerminalDevice: AnyObject {
  /// The number of columns and rows.
  var size: Size { get }
  /// The signs that the terminal can show.
  var glyphs: GlyphSet { get }

  /// Waits for something to happen and returns all of it, in order.
  ///
  /// The wait also ends when the ``Inbox`` of the program calls its waker; what is returned for
  /// that does not matter.
  ///
  /// - Parameter timeout: How long to wait; nil waits for ever.
  /// - Returns: What happened; nothing when the time is over.
  func nextEvents(timeout: Duration?) -> [TerminalEvent]
  /// Shows the screen.
  func render(_ screen: Screen)
  /// Makes the next ``render(_:)`` draw every cell.
  func redraw()
  /// Stops the process, and takes the terminal again when it goes on.
  func suspend()
  /// Rings the bell.
  func bell()
  /// Calls the user, by a notification of the terminal or by the bell.
  func notify(_ text: String)
  /// Gives the terminal to another program while the body runs.
  func withSuspendedScreen<Result>(_ body: () -> Result) -> Result
  /// Puts a text into the clipboard.
  func copy(_ text: String)
  /// Follows what the user has chosen.
  func apply(_ settings: Settings)
}

extension TerminalDevice {
  /// Terminals that are no real ones have nothing to give away.
  package func withSuspendedScreen<Result>(_ body: () -> Result) -> Result { body() }
  /// Terminals that are no real ones have no clipboard.
  package func copy(_ text: String) {}
  /// Terminals that are no real ones look the same whatever is chosen.
  package func apply(_ settings: Settings) {}
}
