import BlogModel
import BlogTUI
import NIOConcurrencyHelpers
import RealtimeAuth

/// Performs the actions of the sign-in screens and sends them the results.
///
/// The screens wait on the terminal and never on a server: everything here runs on other threads.
final class SignInController: Sendable {
  /// The signed-in user and their name, once both are known.
  private let arrived = NIOLockedValueBox<(auth: Auth, author: Author)?>(nil)
  /// A signed-in user who has no name yet.
  private let nameless = NIOLockedValueBox<Auth?>(nil)
  private let remote: RemoteAccounts
  private let mailbox: Mailbox<SignInEvent>

  init(_ remote: RemoteAccounts, mailbox: Mailbox<SignInEvent>) {
    self.remote = remote
    self.mailbox = mailbox
  }

  /// The user of the blog, once the screens have ended with one.
  var visitor: (auth: Auth, author: Author)? { arrived.withLockedValue(\.self) }

  /// Starts an action; its result arrives in the mailbox.
  func perform(_ effect: SignInEffect) {
    Task.detached {
      do {
        try await self.answer(effect)
      } catch {
        self.mailbox.add(.failed(Self.sentence(CommandFailure(error).description)))
      }
    }
  }

  private func answer(_ effect: SignInEffect) async throws {
    switch effect {
    case .use(let uid): try await use(uid)
    case .signOut(let uid): try await signOut(uid)
    case .signIn(let email, let password):
      try await welcome(try await remote.signIn(email: email, password: password))
    case .signUp(let name, let email, let password):
      let author = try Author(userName: name)
      let auth = try await remote.signUp(author, email: email, password: password)
      finish(auth, as: author.name)
    case .sendCode(let email):
      try await remote.open(uid: "").sendPasswordReset(withEmail: email)
      mailbox.add(.codeSent)
    case .setPassword(let code, let password):
      try await remote.open(uid: "").confirmPasswordReset(withCode: code, newPassword: password)
      mailbox.add(.passwordSet)
    case .setUserName(let name):
      guard let auth = nameless.withLockedValue(\.self) else { return }
      let author = try Author(userName: name)
      try await remote.setUserName(author.name, of: auth)
      finish(auth, as: author.name)
    case .goOn, .goBack, .redraw, .suspend, .quit: return
    }
  }

  /// Continues as a user whose credentials are stored here; a known name needs no connection.
  private func use(_ uid: String) async throws {
    let auth = try remote.open(uid: uid)
    guard let user = auth.currentUser else {
      throw CommandFailure(.notPermitted, "this account was signed out meanwhile; sign in again")
    }
    if let name = user.displayName { return finish(auth, as: name) }
    try await welcome(auth)
  }

  private func welcome(_ auth: Auth) async throws {
    if let name = try await remote.userName(of: auth) { return finish(auth, as: name) }
    nameless.withLockedValue { $0 = auth }
    mailbox.add(.nameNeeded(suggestion: RemoteAccounts.suggestion(for: auth.currentUser)))
  }

  private func signOut(_ uid: String) async throws {
    let auth = try remote.open(uid: uid)
    try auth.signOut()
    await auth.settle()
    let accounts = try Self.accounts(remote.configuration)
    guard !accounts.contains(where: { $0.uid == uid }) else {
      throw CommandFailure(
        .failed,
        "this account is still signed in, since the file of the credentials cannot be written; "
          + "\"hearth doctor\" says what to do"
      )
    }
    mailbox.add(.accounts(accounts))
  }

  private func finish(_ auth: Auth, as name: String) {
    guard let user = auth.currentUser else { return }
    arrived.withLockedValue { $0 = (auth, Author(uid: user.uid, name: name)) }
    mailbox.add(.done)
  }

  /// The accounts that are signed in on this machine, as the screens show them.
  ///
  /// - Throws: `AuthError` when the credential file cannot be used.
  static func accounts(_ configuration: AuthConfiguration) throws -> [SignIn.Account] {
    try configuration.keptAccounts().map { kept in
      let texts = [kept.displayName, kept.email].compactMap(\.self)
      return SignIn.Account(
        uid: kept.uid,
        title: texts.isEmpty ? kept.uid : texts.joined(separator: ", ")
      )
    }
  }

  private static func sentence(_ text: String) -> String {
    let text = text.prefix(1).uppercased() + text.dropFirst()
    return text.hasSuffix(".") ? text : text + "."
  }
}
