/// The loop that connects a terminal and the sign-in screens until the user is known.
@MainActor
package final class SignInProgram<Terminal: TerminalDevice> {
  /// Why the user left the screens.
  package enum Ending: Hashable, Sendable {
    /// The user is known.
    case done
    case withoutAccount
    /// The user returns to the blog, with nothing changed.
    case back
    /// The user left, or the terminal is gone.
    case left(BlogTUI.Ending)
  }

  private let terminal: Terminal
  private let mailbox: Mailbox<SignInEvent>
  private let performOutside: (SignInEffect) -> Void
  private var signIn: SignIn
  private var ending: Ending?

  /// Makes a program; nothing happens before ``run()``.
  ///
  /// It uses the terminal as it is and never closes it. `perform` sends a request to the server
  /// without waiting for the response, which the mailbox delivers.
  package init(
    terminal: Terminal,
    signIn: SignIn,
    mailbox: Mailbox<SignInEvent>,
    perform: @escaping (SignInEffect) -> Void
  ) {
    self.terminal = terminal
    self.signIn = signIn
    self.mailbox = mailbox
    performOutside = perform
  }

  /// Runs until the user is known or leaves; blocks the caller.
  package func run() -> Ending {
    while true {
      terminal.render(signIn.view())
      for event in terminal.nextEvents(timeout: nil) { handle(event) }
      takeMail()
      if let ending { return ending }
    }
  }

  private func handle(_ event: TerminalEvent) {
    switch event {
    case .key(let key): send(.key(key))
    case .escaped(let key):
      let keys = signIn.form != nil && EditCommand(.alt(key)) != nil ? [.alt(key)] : [.escape, key]
      for key in keys { send(.key(key)) }
    case .unreadable(let input):
      terminal.bell()
      send(.unreadable(input))
    case .resumed: terminal.redraw()
    case .woken: break
    case .hangUp: ending = .left(.hangUp)
    case .terminate(let signal): ending = .left(.terminated(signal: signal))
    }
  }

  private func takeMail() {
    for event in mailbox.takeAll() {
      if case .done = event { ending = ending ?? .done }
      send(event)
    }
  }

  private func send(_ event: SignInEvent) {
    for effect in signIn.update(event) {
      switch effect {
      case .redraw: terminal.redraw()
      case .suspend: terminal.suspend()
      case .quit: ending = .left(.quit)
      case .goOn: ending = .withoutAccount
      case .goBack: ending = .back
      case .use, .signOut, .signIn, .signUp, .sendCode, .setPassword, .setUserName:
        performOutside(effect)
      }
    }
  }
}
