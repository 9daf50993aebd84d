import Foundation
import Testing

extension EndToEnd {
  /// Accounts at a remote database, through commands and through the screens of two terminals.
  @Suite("Accounts")
  struct AccountTests {
    private let password = "correct horse"

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

      // Where the credentials cannot be stored or removed, the screen says so.
      chmod(sandbox.directory + "/state/hearth", 0o777)
      try bob.press("F6", until: "bob, bob@example.org")
      try bob.press("x", until: "This account is still signed in")
      try bob.press("Down", "Down")
      try signUp(bob, "carl")
      try bob.waitFor("You are signed in only until this terminal closes", within: 30)
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
