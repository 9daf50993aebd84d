/// The screens before the blog, on which people say who they are, as a value.
///
/// A page with choices leads to forms: choices ⇄ form → waiting for the server → form with the reason,
/// another form, or the end.
package struct SignIn: Sendable {
  /// Someone who is signed in on this machine.
  package struct Account: Hashable, Sendable {
    /// The identifier.
    package let uid: String
    /// The user name and the email address, as far as they are known.
    package let title: String

    /// Makes an account.
    package init(uid: String, title: String) {
      self.uid = uid
      self.title = title
    }
  }

  /// What can be chosen on the first page.
  package enum Choice: Hashable, Sendable {
    /// Go on as someone who is signed in on this machine.
    case account(uid: String)
    /// Sign in with an email address.
    case signIn
    /// Make an account.
    case signUp
    /// Set a new password.
    case forgotten
    /// Go on without signing in.
    case withoutAccount
  }

  /// Which database this is.
  package let databaseName: String
  /// The signs that the terminal can show.
  package let glyphs: GlyphSet
  /// The styles of all parts.
  package let theme: Theme
  /// Whether the database may be used without an account.
  package let allowsNobody: Bool
  /// The number of columns and rows.
  package internal(set) var size: Size
  /// Who is signed in on this machine, the last one first.
  package internal(set) var accounts: [Account]
  /// The choices.
  package internal(set) var list = ListView<Choice>()
  /// The form in front of the choices.
  package internal(set) var form: SignInForm?
  /// What the user is told until the next key.
  package internal(set) var message: Message?
  /// What is being done, until the server has answered.
  package internal(set) var activity: SafeText?

  /// Makes the first page.
  ///
  /// - Parameters:
  ///   - databaseName: Which database this is.
  ///   - accounts: Who is signed in on this machine, the last one first.
  ///   - allowsNobody: Whether the database may be used without an account.
  ///   - size: The number of columns and rows.
  ///   - glyphs: The signs that the terminal can show.
  ///   - theme: The styles of all parts.
  package init(
    databaseName: String,
    accounts: [Account],
    allowsNobody: Bool,
    size: Size,
    glyphs: GlyphSet = .unicode,
    theme: Theme = .dark
  ) {
    self.databaseName = databaseName
    self.accounts = accounts
    self.allowsNobody = allowsNobody
    self.size = size
    self.glyphs = glyphs
    self.theme = theme
    showChoices()
  }

  /// What can be chosen, in the order in which it is shown.
  var choices: [Choice] {
    accounts.map { .account(uid: $0.uid) } + [.signIn, .signUp, .forgotten]
      + (allowsNobody ? [.withoutAccount] : [])
  }

  /// The text of a choice.
  func title(of choice: Choice) -> SafeText {
    switch choice {
    case .account(let uid):
      SafeText(untrusted: accounts.first { $0.uid == uid }?.title ?? uid, limit: 200)
    case .signIn: accounts.isEmpty ? "Sign in" : "Sign in with another account"
    case .signUp: "Make an account"
    case .forgotten: "Set a new password"
    case .withoutAccount: "Go on without an account"
    }
  }

  mutating func showChoices() {
    form = nil
    list.update(ids: choices)
    relayout()
  }

  mutating func show(_ form: SignInForm) {
    self.form = form
    relayout()
  }

  /// Tells every part how much room it has.
  mutating func relayout() {
    let frame = Frame(size)
    list.resize(to: frame.page.size)
    form?.resize(to: frame.page.size)
  }
}
