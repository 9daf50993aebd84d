/// What the program can do outside of the terminal and the blog: the port to the rest of the system.
///
/// Whatever is left out does nothing, or says that it is not possible here.
@MainActor
package struct Surroundings {
  /// Keeps what was typed and not sent.
  package var keep: (Unsent) -> Void = { _ in }
  /// Lets the user go on with a draft in another editor, which has the terminal meanwhile.
  package var edit: (Draft) -> Result<Draft, SurroundingsError> = { _ in .failure(.unavailable) }
  /// Opens a link.
  package var openLink: (String) -> Result<Void, SurroundingsError> = { _ in .failure(.unavailable)
  }
  /// Writes a text to a file of that name, and tells its full path.
  package var write: (_ text: String, _ file: String) -> Result<String, SurroundingsError> = {
    _,
    _ in .failure(.unavailable)
  }
  /// Keeps what was typed into the command line.
  package var keepHistory: ([String]) -> Void = { _ in }
  /// Keeps a value in the configuration file.
  package var keepSetting: (Setting, SettingValue) -> Result<Void, SurroundingsError> = { _, _ in
    .success(())
  }
  /// Begins or ends to watch what goes over the wire.
  package var watchWire: (Bool) -> Void = { _ in }
  /// Connects to the database (true), or stays without a connection (false).
  package var setNetwork: (Bool) -> Void = { _ in }
  /// Keeps what the program takes notice of, before it does so; see ``Recording``.
  package var record: (RecordingEntry) -> Void = { _ in }

  /// Whether whoever uses the database has signed in to it.
  package var canChangeAccount = false

  /// Makes surroundings in which nothing is possible.
  package init() {}
}
