import BlogModel
import BlogTUI
import RealtimeAuth
import RealtimeDatabase

extension Open {
  /// Who comes in.
  enum Visitor {
    /// Someone with or without an account.
    case someone(Author)
    /// Nobody: the user left, or the terminal is gone.
    case left(Ending)
  }

  /// Whether people sign in to the database that the options name.
  func hasAccounts() throws -> Bool {
    try options.accounts() != nil && options.user == nil
  }

  /// Finds out who uses the blog, by asking on the screen where it is not known.
  ///
  /// - Parameters:
  ///   - configuration: How the database will be opened.
  ///   - isFirst: Whether whoever is signed in comes in without being asked.
  /// - Returns: Who comes in.
  /// - Throws: ``CommandFailure`` or `AuthError` when that cannot be found out.
  @MainActor
  func receive(
    _ configuration: inout DatabaseOptions,
    isFirst: Bool
  ) throws -> Visitor {
    if let accounts = try options.accounts(), options.user == nil, !screen.plain {
      configuration.trustRoots = options.trustRoots
      if isFirst, let auth = try options.signedIn(), auth.currentUser?.displayName != nil {
        configuration.tokenProvider = auth
        return .someone(try options.author(auth))
      }
      let settings = screen.files.read()
      let terminal = try TerminalScreen(TerminalOptions(settings.settings))
      defer { terminal.close() }
      let desk = SignInDesk(
        terminal: terminal,
        configuration: accounts,
        databaseName: try databaseName(options.places()),
        theme: settings.theme,
        glyphs: settings.settings.isOn(.ascii) ? .ascii : terminal.glyphs
      )
      switch try desk.receive() {
      case .user(let auth, let author):
        configuration.tokenProvider = auth
        return .someone(author)
      case .nobody: return .someone(try options.author())
      case .left(let ending): return .left(ending)
      }
    }
    return .someone(try options.signIn(&configuration))
  }
}
