extension SignIn {
  /// Changes the screens as the event demands, and tells what has to be done outside of them.
  package mutating func update(_ event: SignInEvent) -> [SignInEffect] {
    switch event {
    case .key(let key): return handle(key)
    case .failed(let reason):
      activity = nil
      form?.clearSecrets()
      message = .failure(reason)
    case .codeSent:
      activity = nil
      show(SignInForm(.newPassword))
      message = .note("The code comes by mail, or from an administrator.")
    case .passwordSet:
      activity = nil
      show(SignInForm(.signIn))
      message = .note("The password is set. Sign in with it.")
    case .nameNeeded(let suggestion):
      activity = nil
      show(SignInForm(.userName, known: [.userName: suggestion]))
      message = .note("Others see this name at what you write.")
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
    // Whoever waits for the server can leave, and nothing else.
    guard activity == nil else { return [] }
    message = nil
    return form == nil ? handleInList(key) : handleInForm(key)
  }

  /// A click does what the part under it stands for, and the wheel goes through the choices.
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
    if key == .character("q") || key == .escape { return [.quit] }
    if key == .character("x") || key == .delete { return signOutSelected() }
    guard case .opened(let choice) = list.handle(key) else { return [] }
    return choose(choice)
  }

  private mutating func signOutSelected() -> [SignInEffect] {
    guard case .account(let uid)? = list.selection else {
      message = .note("Only accounts can be signed out.")
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
      form?.type(key)
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
    switch form.kind {
    case .signIn:
      activity = "Signing in"
      return [.signIn(email: email, password: password)]
    case .signUp:
      activity = "Making the account"
      return [.signUp(userName: name, email: email, password: password)]
    case .forgotten:
      activity = "Asking for a code"
      return [.sendCode(email: email)]
    case .newPassword:
      activity = "Setting the password"
      return [.setPassword(code: form.text(.code), password: password)]
    case .userName:
      activity = "Keeping the name"
      return [.setUserName(name)]
    }
  }
}
