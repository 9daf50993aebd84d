/// An event that concerns the sign-in screens.
package enum SignInEvent: Sendable {
  /// The user pressed a key or used the mouse, or the terminal has a new size.
  case key(KeyEvent)
  case unreadable(UnreadableInput)
  case failed(String)
  /// The server has sent a code; without mail, an administrator provides it.
  case codeSent
  case passwordSet
  /// The user has signed in, but has no user name in this blog yet.
  case nameNeeded(suggestion: String)
  /// A user was signed out on this machine, and these remain.
  case accounts([SignIn.Account])
  /// The user is known.
  case done
}

/// Work for the program outside the sign-in screens.
package enum SignInEffect: Hashable, Sendable {
  /// Continue as a user who is signed in on this machine.
  case use(uid: String)
  case signOut(uid: String)
  case signIn(email: String, password: String)
  case signUp(userName: String, email: String, password: String)
  case sendCode(email: String)
  case setPassword(code: String, password: String)
  case setUserName(String)
  case goOn
  /// Go back to the blog as the user who was there before.
  case goBack
  case redraw
  case suspend
  case quit
}

/// The sign-in screens before the blog, as a value.
///
/// A page with choices leads to forms: choices ⇄ form → waiting for the server → form with the
/// reason, another form, or the end.
package struct SignIn: Sendable {
  /// A user who is signed in on this machine.
  package struct Account: Hashable, Sendable {
    package let uid: String
    /// The user name and the email address, if they are known.
    package let title: String

    package init(uid: String, title: String) {
      self.uid = uid
      self.title = title
    }
  }

  /// The user who came here from the blog, and can go back to it.
  package enum ReturningUser: Hashable, Sendable {
    /// A user who is signed in; going back is possible until that user is signed out.
    case account(uid: String)
    /// A user without an account.
    case nobody
  }

  /// A choice on the first page.
  package enum Choice: Hashable, Sendable {
    /// Continue as a user who is signed in on this machine.
    case account(uid: String)
    case signIn
    case signUp
    case forgotten
    case withoutAccount
  }

  package let databaseName: String
  package let glyphs: GlyphSet
  package let theme: Theme
  /// Whether the database may be used without an account.
  package let allowsNobody: Bool
  /// The user who came here from the blog; nil if the blog was not open yet.
  package let returningUser: ReturningUser?
  package internal(set) var size: Size
  /// The users who are signed in on this machine, the latest first.
  package internal(set) var accounts: [Account]
  package internal(set) var list = ListView<Choice>()
  /// The open form, in front of the choices.
  package internal(set) var form: SignInForm?
  package internal(set) var message: Message?
  /// The request in progress, until the server responds.
  package internal(set) var activity: SafeText?

  /// Makes the first page.
  package init(
    databaseName: String,
    accounts: [Account],
    allowsNobody: Bool,
    returningUser: ReturningUser? = nil,
    size: Size,
    glyphs: GlyphSet = .unicode,
    theme: Theme = .dark
  ) {
    self.databaseName = databaseName
    self.accounts = accounts
    self.allowsNobody = allowsNobody
    self.returningUser = returningUser
    self.size = size
    self.glyphs = glyphs
    self.theme = theme
    showChoices()
  }

  /// The choices in the order in which they are shown.
  var choices: [Choice] {
    accounts.map { .account(uid: $0.uid) } + [.signIn, .signUp, .forgotten]
      + (allowsNobody ? [.withoutAccount] : [])
  }

  /// Whether the user can go back to the blog: not if that account was signed out here.
  var canGoBack: Bool {
    switch returningUser {
    case .account(let uid)?: accounts.contains { $0.uid == uid }
    case .nobody?: true
    case nil: false
    }
  }

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

  mutating func relayout() {
    let frame = Frame(size)
    list.resize(to: frame.page.size)
    form?.resize(to: frame.page.size)
  }
}

extension SignIn {
  /// Updates the screens for an event, and returns the work to be done outside them.
  package mutating func update(_ event: SignInEvent) -> [SignInEffect] {
    switch event {
    case .key(let key): return handle(key)
    case .unreadable(let input): message = .unreadable(input)
    case .failed(let reason):
      activity = nil
      form?.clearSecrets()
      message = .failure(reason)
    case .codeSent:
      activity = nil
      show(SignInForm(.newPassword))
      message = .note("You get the code by mail or from an administrator")
    case .passwordSet:
      activity = nil
      show(SignInForm(.signIn))
      message = .note("The password is set; sign in with it")
    case .nameNeeded(let suggestion):
      activity = nil
      show(SignInForm(.userName, known: [.userName: suggestion]))
      message = .note("Others see this name next to what you write")
    case .accounts(let accounts):
      activity = nil
      self.accounts = accounts
      showChoices()
    case .done: break
    }
    return []
  }

  private mutating func handle(_ key: KeyEvent) -> [SignInEffect] {
    if case .resize(let size) = key {
      self.size = size
      relayout()
      return []
    }
    if case .mouse(let event) = key { return handle(event) }
    if key == .control("l") { return [.redraw] }
    if key == .control("z") { return [.suspend] }
    if key == .control("c") { return [.quit] }
    // While a request is in progress, the user can only leave.
    guard activity == nil else { return [] }
    let keepsMessage = form != nil && message?.outlasts(key) == true
    if !keepsMessage { message = nil }
    return form == nil ? handleInList(key) : handleInForm(key)
  }

  /// Handles the mouse: a click acts on the part under it, and the wheel moves through the choices.
  private mutating func handle(_ event: MouseEvent) -> [SignInEffect] {
    guard activity == nil else { return [] }
    switch event.kind {
    case .release: break
    case .wheelUp: if form == nil { list.move(by: -1) }
    case .wheelDown: if form == nil { list.move(by: 1) }
    case .press:
      message = nil
      var painter = SignInPainter(self)
      painter.paint()
      guard let hit = painter.hits.hit(at: event.position) else { break }
      return click(hit.target, at: hit.offset)
    }
    return []
  }

  private mutating func click(_ part: SignInPart, at offset: Position) -> [SignInEffect] {
    switch part {
    case .choice(let choice):
      list.select(choice)
      return choose(choice)
    case .field(let index):
      form?.focus(on: index)
      form?.moveCursor(toColumn: offset.column)
      return []
    case .key(let key): return handle(key)
    }
  }

  private mutating func handleInList(_ key: KeyEvent) -> [SignInEffect] {
    if key == .character("q") { return [canGoBack ? .goBack : .quit] }
    if key == .escape {
      if canGoBack { return [.goBack] }
      message = .note("q quits")
      return []
    }
    if key == .character("x") || key == .delete { return signOutSelected() }
    if let motion = Motion(key) { list.move(motion) }
    guard [.enter, .right, .character("l")].contains(key), let choice = list.selection else {
      return []
    }
    return choose(choice)
  }

  private mutating func signOutSelected() -> [SignInEffect] {
    guard case .account(let uid)? = list.selection else {
      message = .note("Only accounts can be signed out")
      return []
    }
    activity = "Signing out"
    return [.signOut(uid: uid)]
  }

  private mutating func choose(_ choice: Choice) -> [SignInEffect] {
    switch choice {
    case .account(let uid):
      activity = "Connecting"
      return [.use(uid: uid)]
    case .signIn: show(SignInForm(.signIn))
    case .signUp: show(SignInForm(.signUp))
    case .forgotten: show(SignInForm(.forgotten))
    case .withoutAccount: return [.goOn]
    }
    return []
  }

  private mutating func handleInForm(_ key: KeyEvent) -> [SignInEffect] {
    guard let current = form else { return [] }
    if key == .escape {
      showChoices()
    } else if key == .tab || key == .down {
      form?.focus(on: current.isAtEnd ? 0 : current.focus + 1)
    } else if key == .backTab || key == .up {
      form?.focus(on: current.focus - 1)
    } else if key != .enter {
      message = form?.type(key) ?? message
    } else if current.isAtEnd {
      return submit(current)
    } else {
      form?.focus(on: current.focus + 1)
    }
    return []
  }

  private mutating func submit(_ form: SignInForm) -> [SignInEffect] {
    if let problem = form.problem() {
      self.form?.focus(on: problem.field)
      message = .failure(problem.text)
      return []
    }
    let email = form.text(.email)
    let password = form.text(.password)
    let name = form.text(.userName)
    let (activity, request): (SafeText, SignInEffect) =
      switch form.kind {
      case .signIn: ("Signing in", .signIn(email: email, password: password))
      case .signUp:
        ("Making the account", .signUp(userName: name, email: email, password: password))
      case .forgotten: ("Asking for a code", .sendCode(email: email))
      case .newPassword:
        ("Setting the password", .setPassword(code: form.text(.code), password: password))
      case .userName: ("Keeping the name", .setUserName(name))
      }
    self.activity = activity
    return [request]
  }
}
