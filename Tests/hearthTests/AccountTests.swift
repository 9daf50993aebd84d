import Foundation
import Testing

extension EndToEnd {
  /// Accounts at a remote database, through commands and through the screens of two terminals.
  @Suite("Accounts")
  struct AccountTests {
    private let password = "correct horse"

    @Test("Two users post, star and comment as themselves, and nobody can without an account")
    func commands() throws {
      let sandbox = try Sandbox()
      let (_, url) = try sandbox.serveBlog()
      #expect(
        try sandbox.hearth("post", "--title", "t", "--body", "b", "--database", url).status == 4
      )
      try sandbox.signUp("ann", at: url)
      let post = ["post", "--title", "Hello", "--body", "b", "--database", url]
      let id = try #require(try sandbox.run(post).lines.first)
      try sandbox.signUp("bob", at: url)
      #expect(try sandbox.hearth("star", id, "--database", url).status == 0)
      #expect(try sandbox.hearth("comment", id, "Hi", "--database", url).status == 0)
      #expect(try sandbox.hearth("delete", id, "--database", url).status == 4)
      let shown = try object(sandbox.hearth("show", id, "--json", "--database", url).output)
      #expect(shown["author"] as? String == "ann")
      #expect(shown["starCount"] as? Int == 1)
      let accounts = try sandbox.hearth("accounts", "--json").lines.map(object)
      #expect(accounts.map { $0["name"] as? String } == ["bob", "ann"])
      #expect(shown["uid"] as? String == accounts[1]["uid"] as? String)
      #expect(try sandbox.hearth("delete", id, "--database", url, "--account", "ann").status == 0)
      #expect(try sandbox.hearth("name", "Bea", "--database", url).output == "Bea\n")
      #expect(try sandbox.hearth("name", "--database", url).output == "Bea\n")
      #expect(
        try sandbox.hearth("post", "--title", "t", "--body", "b", "--database", url).status == 0
      )
      #expect(try sandbox.hearth("list", "--database", url).output.contains("  Bea: t"))
      #expect(try sandbox.hearth("sign-out", "--database", url).status == 0)
      #expect(
        try sandbox.hearth("accounts").output.split(separator: "\n").map { $0.prefix(3) } == ["ann"]
      )
    }

    @Test("Signing in again restores the same user, and a wrong password is rejected")
    func signIn() throws {
      let sandbox = try Sandbox()
      let (_, url) = try sandbox.serveBlog()
      try sandbox.signUp("ann", at: url)
      #expect(try sandbox.hearth("sign-out", "--database", url).status == 0)
      let arguments = ["sign-in", "--email", "ann@example.org", "--password-stdin"]
      let wrong = try sandbox.run(arguments + ["--database", url], input: "wrong horse\n")
      #expect(wrong.status == 4)
      #expect(!wrong.errors.contains("wrong horse"))
      let right = try sandbox.run(arguments + ["--database", url], input: password + "\n")
      #expect(right.output == "signed in as ann\n")
      let file = sandbox.directory + "/state/hearth/credentials.json"
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode.map { $0 & 0o777 } == 0o600)
    }

    @Test("A forgotten password can be reset once with a code")
    func resetPassword() throws {
      let sandbox = try Sandbox()
      let (_, url) = try sandbox.serveBlog()
      try sandbox.signUp("ann", at: url)
      let ask = ["reset-password", "--email", "ann@example.org", "--database", url]
      let asked = try sandbox.run(ask)
      #expect(asked.status == 0, "\(asked.errors)")
      #expect(asked.output.contains("if ann@example.org has an account there"))
      let place = [
        "--data-dir", sandbox.directory + "/blog", "--socket", sandbox.directory + "/run/blog.sock",
      ]
      func users(_ words: String...) throws -> String {
        try sandbox.run(["users"] + words + place).output
      }
      try waitUntil("the administrator sees the wish") {
        try users("list").contains("asked for a new password")
      }
      let code = try users("reset", "ann@example.org").trimmingCharacters(in: .newlines)
      func reset(_ code: String, _ arguments: String..., password: String) throws -> Sandbox.Outcome
      {
        try sandbox.run(
          ["reset-password", "--code", code, "--password-stdin", "--database", url] + arguments,
          input: password + "\n"
        )
      }
      #expect(try reset(code, "--email", "bob@example.org", password: "x").status == 2)
      let long = try reset(code, password: String(repeating: "x", count: 4_097))
      #expect(long.status == 2)
      #expect(long.errors.contains("at most 4096 bytes"))
      #expect(try reset("nonsense", password: "battery staple").status == 4)
      let done = try reset(code, "--email", "Ann@example.org", password: "battery staple")
      #expect(done.status == 0, "\(done.errors)")
      #expect(try reset(code, password: "another one").status == 4)
      let ended = try sandbox.hearth("list", "--database", url)
      #expect(ended.status == 4)
      #expect(ended.errors.contains("the session has ended"))
      func signIn(_ password: String) throws -> Int32 {
        try sandbox.run(
          [
            "sign-in", "--email", "ann@example.org", "--password-stdin", "--database", url,
          ],
          input: password + "\n"
        ).status
      }
      #expect(try signIn(password) == 4)
      #expect(try signIn("battery staple") == 0)
      #expect(try !users("list").contains("asked for"))
    }

    @Test("A profile stands for a URL, and the local database has no accounts")
    func profiles() throws {
      let sandbox = try Sandbox()
      let (_, url) = try sandbox.serveBlog()
      #expect(try sandbox.hearth("profile", "add", "team", "--database", url).status == 0)
      #expect(try sandbox.hearth("profile", "add", "team", "--database", url).status == 6)
      #expect(try sandbox.hearth("profile", "list").output == "team  \(url)\n")
      try sandbox.signUp("ann", at: url)
      #expect(
        try sandbox.hearth("post", "--title", "t", "--body", "b", "--profile", "team").status == 0
      )
      #expect(try sandbox.hearth("list", "--profile", "team").lines.count == 1)
      #expect(try sandbox.hearth("list", "--profile", "other").status == 3)
      #expect(try sandbox.hearth("profile", "remove", "team").status == 0)
      #expect(try sandbox.hearth("profile", "list").output.isEmpty)
      #expect(try sandbox.hearth("sign-out").status == 3)
      #expect(try sandbox.hearth("list", "--account", "ann").status == 2)
    }

    @Test(
      "Two users sign up on screen, switch accounts, post, star and comment",
      .needsTmux
    )
    func screens() throws {
      let sandbox = try Sandbox()
      let (_, url) = try sandbox.serveBlog()
      let ann = try sandbox.open("\(Sandbox.program) --database '\(url)'")
      try ann.waitFor("Who are you?", within: 30)
      try signUp(ann, "ann")
      // The next terminal starts as the same user, and becomes another one.
      let bob = try sandbox.open("\(Sandbox.program) --database '\(url)'")
      try bob.waitFor("online", within: 30)
      try bob.press("F6", until: "ann, ann@example.org")
      // Esc leads back to the previous screen, as the same user as before.
      try bob.press("Escape")
      try bob.waitFor("the list again") {
        $0.contains("No posts yet") && $0.contains("online") && !$0.contains("ann@example.org")
      }
      try bob.press("F6", until: "ann, ann@example.org")
      try bob.press("Down")
      try signUp(bob, "bob")

      try ann.compose("Hello from ann", "Is anyone there?")
      try bob.waitFor("Hello from ann", within: 30)
      try bob.press("s")
      try ann.waitFor("the star", within: 30) {
        $0.split(separator: "\n").contains { $0.contains("Hello from ann") && $0.contains("1") }
      }
      try bob.press("Enter", until: "Is anyone there?")
      try bob.press("c", until: "Enter send")
      try bob.enter("I am here.")
      try ann.press("Enter", until: "I am here.", within: 30)
      try waitUntil("everything is stored") {
        try sandbox.hearth("list", "--json", "--database", url).lines.count == 1
      }
      let post = try object(sandbox.hearth("list", "--json", "--database", url).lines[0])
      let accounts = try sandbox.hearth("accounts", "--json").lines.map(object)
      #expect(post["author"] as? String == "ann")
      #expect(post["starCount"] as? Int == 1)
      let annsID = accounts.first { $0["name"] as? String == "ann" }?["uid"] as? String
      #expect(post["uid"] as? String == annsID)
    }

    /// Creates an account from the page of choices, whose first choice is just before the
    /// selection.
    private func signUp(_ pane: Sandbox.Pane, _ name: String) throws {
      try pane.press("Down", "Enter", until: "Make an account")
      try pane.waitFor("User name")
      try pane.type(name)
      try pane.press("Tab")
      try pane.type("\(name)@example.org")
      try pane.press("Tab")
      try pane.type(password)
      try pane.press("Tab")
      try pane.enter(password)
      try pane.waitFor("online", within: 30)
      #expect(try !pane.screen().contains(password))
    }
  }
}
