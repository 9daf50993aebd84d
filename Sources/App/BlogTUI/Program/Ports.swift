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
  /// A terminal that is not real has nothing to suspend.
  package func withSuspendedScreen<Result>(_ body: () -> Result) -> Result { body() }
  /// A terminal that is not real has no clipboard.
  package func copy(_ text: String) {}
  /// A terminal that is not real has no modes to set.
  package func apply(_ settings: Settings) {}
}

/// The port to the rest of the system: what the program does beyond the terminal and the blog.
///
/// Operations that are not set do nothing, or report that they are unavailable.
@MainActor
package struct Environment {
  /// Keeps what was typed and not sent.
  package var keep: (Unsent) -> Void = { _ in }
  /// Opens a draft in an external editor, which owns the terminal in the meantime.
  package var edit: (Draft) -> Result<Draft, EnvironmentError> = { _ in .failure(.unavailable) }
  /// Opens a comment in an external editor.
  package var editText: (String) -> Result<String, EnvironmentError> = { _ in .failure(.unavailable)
  }
  /// Opens a link.
  package var openLink: (String) -> Result<Void, EnvironmentError> = { _ in .failure(.unavailable)
  }
  /// Writes a text to a file of that name, and tells its full path.
  package var write: (_ text: String, _ file: String) -> Result<String, EnvironmentError> = {
    _,
    _ in .failure(.unavailable)
  }
  /// Keeps what was typed into the command line.
  package var keepHistory: ([String]) -> Void = { _ in }
  /// Keeps a value in the configuration file.
  package var keepSetting: (Setting, SettingValue) -> Result<Void, EnvironmentError> = { _, _ in
    .success(())
  }
  /// Begins or ends to watch what goes over the wire.
  package var watchWire: (Bool) -> Void = { _ in }
  /// Connects to the database (true), or stays without a connection (false).
  package var setNetwork: (Bool) -> Void = { _ in }
  /// Records each event before the program handles it; see ``Recording``.
  package var record: (RecordingEntry) -> Void = { _ in }

  /// Whether whoever uses the database has signed in to it.
  package var canChangeAccount = false

  /// Makes an environment in which nothing is possible.
  package init() {}
}

/// Why an operation outside of the program failed.
package struct EnvironmentError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nothing of the kind can be done here.
  package static let unavailable = EnvironmentError("That is not possible here.")

  /// What went wrong, why, and what to do.
  package let description: String

  /// Makes an error.
  package init(_ description: String) {
    self.description = description
  }
}
