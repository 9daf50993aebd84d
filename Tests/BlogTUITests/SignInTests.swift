import Testing

@testable import BlogTUI

@Suite("Sign-in form")
struct SignInTests {
  private func signIn(
    _ accounts: [String] = [],
    size: Size = Size(width: 80, height: 24),
    glyphs: GlyphSet = .unicode
  ) -> SignIn {
    SignIn(
      databaseName: "team",
      accounts: accounts.map { SignIn.Account(uid: $0, title: "\($0), \($0)@example.org") },
      allowsNobody: true,
      size: size,
      glyphs: glyphs
    )
  }

  @discardableResult
  private func type(_ text: String, into signIn: inout SignIn) -> [SignInEffect] {
    text.flatMap { signIn.update(.key(.character($0))) }
  }

  /// Opens a form from the first page.
  private func form(_ choice: SignIn.Choice, _ signIn: inout SignIn) {
    _ = signIn.list.select(choice)
    _ = signIn.update(.key(.enter))
  }

  @Test("A password never appears on the screen or in a description")
  func hiddenPassword() {
    var signIn = signIn()
    form(.signIn, &signIn)
    type("ann@example.org", into: &signIn)
    _ = signIn.update(.key(.tab))
    type("hunter2", into: &signIn)
    let text = signIn.view().text()
    #expect(!text.contains("hunter2"))
    #expect(text.contains("•••••••"))
  }

  @Test("Unreadable input is explained while one types on")
  func unreadableInput() {
    var signIn = signIn()
    form(.signIn, &signIn)
    _ = signIn.update(.unreadable(.notUTF8))
    type("ann@example.org", into: &signIn)
    _ = signIn.update(.key(.paste("x")))
    #expect(signIn.form?.text(.email) == "ann@example.orgx")
    #expect(signIn.view().text().contains("What is not UTF-8 cannot be read"))
    _ = signIn.update(.key(.tab))
    #expect(signIn.message == nil)
  }

  @Test("The cursor in a hidden password moves as in visible text")
  func cursor() {
    var signIn = signIn()
    form(.signIn, &signIn)
    _ = signIn.update(.key(.tab))
    type("abc", into: &signIn)
    let end = signIn.view().cursor
    _ = signIn.update(.key(.left))
    let cursor = signIn.view().cursor
    #expect(cursor?.column == end.map { $0.column - 1 })
    #expect(cursor?.row == end?.row)
  }

  @Test("The form is submitted once, and keys are ignored until the answer")
  func signsIn() {
    var signIn = signIn()
    form(.signIn, &signIn)
    type("ann@example.org", into: &signIn)
    #expect(signIn.update(.key(.enter)).isEmpty)
    type("hunter2", into: &signIn)
    #expect(
      signIn.update(.key(.enter)) == [.signIn(email: "ann@example.org", password: "hunter2")]
    )
    #expect(signIn.update(.key(.enter)).isEmpty)
    #expect(signIn.view().text().contains("Signing in…"))
  }

  @Test("A refused password is cleared, and the other fields stay")
  func refusedPassword() {
    var signIn = signIn()
    form(.signIn, &signIn)
    type("ann@example.org", into: &signIn)
    _ = signIn.update(.key(.enter))
    type("wrong", into: &signIn)
    _ = signIn.update(.key(.enter))
    _ = signIn.update(.failed("The email address or the password is wrong."))
    #expect(signIn.form?.text(.email) == "ann@example.org")
    #expect(signIn.form?.text(.password) == "")
    type("right one", into: &signIn)
    #expect(
      signIn.update(.key(.enter)) == [.signIn(email: "ann@example.org", password: "right one")]
    )
  }

  @Test(
    "Invalid input is reported before the server is asked",
    arguments: [
      (["", "a@b", "secret", "secret"], "name cannot be empty"),
      (["Ann", "ab", "secret", "secret"], "needs an @"),
      (["Ann", "a@b", "12345", "12345"], "6 characters"),
      (["Ann", "a@b", "secret", "secreT"], "differ"),
    ]
  )
  func problems(_ texts: [String], _ problem: String) {
    var signIn = signIn()
    form(.signUp, &signIn)
    for (index, text) in texts.enumerated() {
      type(text, into: &signIn)
      if index < texts.count - 1 { _ = signIn.update(.key(.tab)) }
    }
    #expect(signIn.update(.key(.enter)).isEmpty)
    #expect(signIn.message?.text.string.contains(problem) == true)
  }

  @Test("A user without a name is asked for one, with a suggestion")
  func userName() {
    var signIn = signIn()
    form(.signIn, &signIn)
    _ = signIn.update(.nameNeeded(suggestion: "ann"))
    #expect(signIn.form?.kind == .userName)
    type("a", into: &signIn)
    #expect(signIn.update(.key(.enter)) == [.setUserName("anna")])
  }

  @Test("A forgotten password is reset with a code")
  func forgotten() {
    var signIn = signIn()
    form(.forgotten, &signIn)
    type("ann@example.org", into: &signIn)
    #expect(signIn.update(.key(.enter)) == [.sendCode(email: "ann@example.org")])
    _ = signIn.update(.codeSent)
    type("123", into: &signIn)
    _ = signIn.update(.key(.enter))
    type("new one", into: &signIn)
    _ = signIn.update(.key(.enter))
    type("new one", into: &signIn)
    #expect(signIn.update(.key(.enter)) == [.setPassword(code: "123", password: "new one")])
    _ = signIn.update(.passwordSet)
    #expect(signIn.form?.kind == .signIn)
  }

  @Test("Enter uses an account and x signs it out; x does nothing on other choices")
  func accounts() {
    var signIn = signIn(["ann", "bob"])
    #expect(signIn.update(.key(.enter)) == [.use(uid: "ann")])
    _ = signIn.update(.failed("No."))
    #expect(signIn.update(.key(.character("x"))) == [.signOut(uid: "ann")])
    _ = signIn.update(.accounts([]))
    #expect(signIn.choices == [.signIn, .signUp, .forgotten, .withoutAccount])
    #expect(signIn.update(.key(.character("x"))).isEmpty)
  }

  @Test("Escape returns to the choices and never quits")
  func escape() {
    var signIn = signIn()
    form(.signIn, &signIn)
    #expect(signIn.update(.key(.escape)).isEmpty)
    #expect(signIn.form == nil)
    #expect(signIn.update(.key(.escape)) == [])
    #expect(signIn.message?.text.string == "q quits")
    #expect(signIn.update(.key(.character("q"))) == [.quit])
  }

  @Test("Escape and q return to the blog unless the account was signed out")
  func back() {
    for returningUser in [SignIn.ReturningUser.account(uid: "ann"), .nobody] {
      for key in [KeyEvent.escape, .character("q")] {
        var signIn = SignIn(
          databaseName: "team",
          accounts: [SignIn.Account(uid: "ann", title: "ann")],
          allowsNobody: true,
          returningUser: returningUser,
          size: Size(width: 80, height: 24)
        )
        form(.signIn, &signIn)
        #expect(signIn.update(.key(.escape)).isEmpty)
        #expect(signIn.view().text().contains("Esc back"))
        #expect(signIn.update(.key(key)) == [.goBack])
        _ = signIn.update(.accounts([]))
        let isNobody = returningUser == .nobody
        #expect(signIn.update(.key(.character("q"))) == [isNobody ? .goBack : .quit])
      }
    }
  }
}
