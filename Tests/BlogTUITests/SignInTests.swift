import Testing

@testable import BlogTUI

@Suite("Sign-in form")
struct SignInTests {
  private func form(_ choice: SignIn.Choice) -> SignIn {
    var form = SignIn()
    form.choose(choice)
    return form
  }

  @Test("A password never appears on the screen or in a description")
  func hiddenPassword() {
    var form = form(.signIn)
    form.type("ann@example.org", .tab, "hunter2")
    let text = form.view().text()
    #expect(!text.contains("hunter2"))
    #expect(text.contains("•••••••"))
  }

  @Test("Unreadable input is explained while one types on")
  func unreadableInput() {
    var form = form(.signIn)
    _ = form.update(.unreadable(.notUTF8))
    form.type("ann@example.org", .paste("x"))
    #expect(form.form?.text(.email) == "ann@example.orgx")
    #expect(form.view().text().contains("What is not UTF-8 cannot be read"))
    form.type(.tab)
    #expect(form.message == nil)
  }

  @Test("A paste that does not fit into a field is said to be cut")
  func longPaste() {
    var form = form(.signIn)
    form.type(.tab, .paste(String(repeating: "x", count: 100_000)))
    #expect(form.view().text().contains("The paste was cut"))
    form.type("y")
    #expect(form.view().text().contains("This field takes"))
    form.type(.key(.backspace))
    #expect(form.message == nil)
  }

  @Test("A pasted line gets no blank at its end, and blanks around an address do not count")
  func pastedLines() {
    var form = form(.signIn)
    form.type(.paste(" ann@example.org \n"), .tab, .paste(" hunter2\r\n"))
    #expect(
      form.type(.enter) == [.signIn(email: "ann@example.org", password: " hunter2")]
    )
  }

  @Test("The cursor in a hidden password moves as in visible text")
  func cursor() {
    var form = form(.signIn)
    form.type(.tab, "abc")
    let end = form.view().cursor
    form.type(.key(.left))
    let cursor = form.view().cursor
    #expect(cursor?.column == end.map { $0.column - 1 })
    #expect(cursor?.row == end?.row)
  }

  @Test("The form is submitted once, and keys are ignored until the answer")
  func signsIn() {
    var form = form(.signIn)
    #expect(form.type("ann@example.org", .enter).isEmpty)
    #expect(
      form.type("hunter2", .enter) == [.signIn(email: "ann@example.org", password: "hunter2")]
    )
    #expect(form.type(.enter).isEmpty)
    #expect(form.view().text().contains("Signing in…"))
  }

  @Test("A refused password is cleared, and the other fields stay")
  func refusedPassword() {
    var form = form(.signIn)
    form.type("ann@example.org", .enter, "wrong", .enter)
    _ = form.update(.failed("The email address or the password is wrong."))
    #expect(form.form?.text(.email) == "ann@example.org")
    #expect(form.form?.text(.password) == "")
    #expect(
      form.type("right one", .enter) == [.signIn(email: "ann@example.org", password: "right one")]
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
    var form = form(.signUp)
    form.type(.text(texts[0]), .tab, .text(texts[1]), .tab, .text(texts[2]), .tab, .text(texts[3]))
    #expect(form.type(.enter).isEmpty)
    #expect(form.message?.text.string.contains(problem) == true)
  }

  @Test("A user without a name is asked for one, with a suggestion")
  func userName() {
    var form = form(.signIn)
    _ = form.update(.nameNeeded(suggestion: "ann"))
    #expect(form.form?.kind == .userName)
    #expect(form.type("a", .enter) == [.setUserName("anna")])
  }

  @Test("A forgotten password is reset with a code")
  func forgotten() {
    var form = form(.forgotten)
    #expect(form.type("ann@example.org", .enter) == [.sendCode(email: "ann@example.org")])
    _ = form.update(.codeSent)
    form.type("123", .enter, "new one", .enter)
    #expect(form.type("new one", .enter) == [.setPassword(code: "123", password: "new one")])
    _ = form.update(.passwordSet)
    #expect(form.form?.kind == .signIn)
  }

  @Test("Enter uses an account and x signs it out; x does nothing on other choices")
  func accounts() {
    var form = SignIn(["ann", "bob"])
    #expect(form.type(.enter) == [.use(uid: "ann")])
    _ = form.update(.failed("No."))
    #expect(form.type("x") == [.signOut(uid: "ann")])
    _ = form.update(.accounts([]))
    #expect(form.choices == [.signIn, .signUp, .forgotten, .withoutAccount])
    #expect(form.type("x").isEmpty)
  }

  @Test("Escape returns to the choices and never quits")
  func escape() {
    var form = form(.signIn)
    #expect(form.type(.escape).isEmpty)
    #expect(form.form == nil)
    #expect(form.type(.escape).isEmpty)
    #expect(form.message?.text.string == "q quits")
    #expect(form.type("q") == [.quit])
  }

  @Test(
    "Escape and q return to the blog unless the account was signed out",
    arguments: [SignIn.ReturningUser.account(uid: "ann"), .nobody],
    [KeyEvent.escape, .character("q")]
  )
  func back(returningUser: SignIn.ReturningUser, key: KeyEvent) {
    var form = SignIn(["ann"], returningUser: returningUser)
    form.choose(.signIn)
    #expect(form.type(.escape).isEmpty)
    #expect(form.view().text().contains("Esc back"))
    #expect(form.type(.key(key)) == [.goBack])
    _ = form.update(.accounts([]))
    #expect(form.type("q") == [returningUser == .nobody ? .goBack : .quit])
  }
}
