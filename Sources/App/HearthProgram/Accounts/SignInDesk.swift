import BlogModel
import BlogTUI
import RealtimeAuth

/// Asks on the screen who uses a blog elsewhere.
@MainActor
struct SignInDesk {
  /// Who comes in.
  enum Visitor {
    /// Someone with an account.
    case user(Auth, Author)
    /// Someone without one.
    case nobody
    /// Nobody: the user left, or the terminal is gone.
    case left(Ending)
  }

  let terminal: TerminalScreen
  let configuration: AuthConfiguration
  let databaseName: String
  let theme: Theme
  let glyphs: GlyphSet

  /// Shows the screens until it is known who is there.
  ///
  /// - Throws: `AuthError` when the credential file cannot be used.
  func receive() throws -> Visitor {
    let mailbox = Mailbox<SignInEvent>(wake: terminal.wake)
    let clerk = SignInClerk(AccountDesk(configuration: configuration), mailbox: mailbox)
    let signIn = SignIn(
      databaseName: databaseName,
      accounts: try SignInClerk.accounts(configuration),
      allowsNobody: true,
      size: terminal.size,
      glyphs: glyphs,
      theme: theme
    )
    let program = SignInProgram(terminal: terminal, signIn: signIn, mailbox: mailbox) {
      clerk.perform($0)
    }
    switch program.run() {
    case .withoutAccount: return .nobody
    case .left(let ending): return .left(ending)
    case .done:
      guard let visitor = clerk.visitor else { return .nobody }
      return .user(visitor.auth, visitor.author)
    }
  }
}
