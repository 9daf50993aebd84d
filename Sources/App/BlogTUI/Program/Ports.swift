package import BlogModel

/// Why a program ended.
package enum Ending: Hashable, Sendable {
  case quit
  case changeAccount
  /// Not all commands of a pipe could be done.
  case refused
  /// The terminal was closed.
  case hangUp
  /// This signal asked the program to exit.
  case terminated(signal: Int32)
}

/// What the program needs from a terminal: the port between the screens and ncurses.
@MainActor
package protocol TerminalDevice: AnyObject {
  var size: Size { get }
  var glyphs: GlyphSet { get }

  /// Waits for something to happen and returns all of it, in order; empty after a timeout.
  ///
  /// The wait also ends when the program's ``Inbox`` calls its waker; what is returned in that case
  /// does not matter. Without a timeout, it lasts for ever.
  func nextEvents(timeout: Duration?) -> [TerminalEvent]
  func render(_ screen: Screen)
  /// Makes the next ``render(_:)`` draw every cell.
  func redraw()
  /// Stops the process, and takes over the terminal again once it continues.
  func suspend()
  func bell()
  /// Gets the user's attention with a terminal notification or the bell.
  func notify(_ text: String)
  /// Gives the terminal to another program while the body runs.
  func withSuspendedScreen<Result>(_ body: () -> Result) -> Result
  func copy(_ text: String)
  func apply(_ settings: Settings)
}

extension TerminalDevice {
  /// A simulated terminal has nothing to suspend.
  package func withSuspendedScreen<Result>(_ body: () -> Result) -> Result { body() }
  /// A simulated terminal has no clipboard.
  package func copy(_ text: String) {}
  /// A simulated terminal has no modes to set.
  package func apply(_ settings: Settings) {}
}

/// The port to the rest of the system: what the program does beyond the terminal and the blog.
///
/// Operations that are not set do nothing; those that can be nil are unavailable then.
@MainActor
package struct Environment {
  /// Saves what was typed and not sent, so that it survives a power failure if that is asked for,
  /// or returns why it could not.
  package var keep: (_ unsent: Unsent, _ isDurable: Bool) -> EnvironmentError? = { _, _ in nil }
  /// Opens a draft in an external editor, which owns the terminal in the meantime.
  package var edit: ((Draft) -> Result<Draft, EnvironmentError>)?
  /// Opens a comment on a post in an external editor.
  package var editText: ((CommentDraft, _ post: PostID) -> Result<String, EnvironmentError>)?
  package var openLink: ((String) -> Result<Void, EnvironmentError>)?
  /// Writes a text to a file with that name, and returns its full path.
  package var write: ((_ text: String, _ file: String) -> Result<String, EnvironmentError>)?
  /// Writes lines of JSON to a new file, without the secrets in them, and returns its full path.
  package var writeWire: ((_ lines: String, _ file: String) -> Result<String, EnvironmentError>)?
  /// Runs a shell command; one that has the terminal ends before this returns.
  package var run: (CommandJob, _ ended: @escaping @Sendable (CommandOutcome) -> Void) -> Void = {
    $1(CommandOutcome(name: $0.name, failure: "cannot be run here"))
  }
  package var keepHistory: ([String]) -> Void = { _ in }
  package var keepSetting: (Setting, SettingValue) -> Result<Void, EnvironmentError> = { _, _ in
    .success(())
  }
  package var watchWire: (Bool) -> Void = { _ in }
  /// Makes a change whose writes are caused by what the user did.
  package var attributeWrites: (_ cause: String, _ change: () -> Void) -> Void = { $1() }
  package var setNetwork: (Bool) -> Void = { _ in }
  /// Records each event before the program handles it; see ``Recording``.
  package var record: (RecordingEntry) -> Void = { _ in }
  /// Remembers events once their result is on the screen, so that no key waits for it.
  package var remember: ([RecordingEntry], _ after: Model) -> Void = { _, _ in }
  /// Writes a report of what is shown and has happened to that file, or to one of its own if the
  /// name is empty, and returns its full path.
  package var report: ((Model, _ file: String) -> Result<String, EnvironmentError>)?

  /// Whether the user has signed in to the database, and can therefore switch accounts.
  package var canChangeAccount = false
  /// Whether the user reads a database that has accounts without one.
  package var isWithoutAccount = false

  package init() {}
}

/// Why an operation outside the program failed.
package struct EnvironmentError: Error, Hashable, Sendable, CustomStringConvertible {
  package static let unavailable = EnvironmentError("That is not possible here.")

  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
