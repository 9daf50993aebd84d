import Foundation
import Testing

extension EndToEnd {
  /// A server on one machine and two users on another, with a bad cable in between.
  @Suite(
    "Two machines",
    .enabled(if: Tmux.isInstalled, "tmux is not installed"),
    .enabled(
      if: Cable.isPossible,
      "namespaces cannot be made here (unshare, nsenter, ip); BadNetworkTests use a proxy instead"
    )
  )
  struct NetworkTests {
    private static let rules = Sandbox.package + "/assets/rules/blog.json"

    @Test("Users post, star and comment over a network that is cut, slow, lossy and one-way")
    func wholeWay() throws {
      let sandbox = try Sandbox()
      let cable = try Cable(sandbox)
      let server = try serve(sandbox, cable)
      defer { server.terminate() }
      let url = "http://\(Cable.nearAddress):9000?ns=hearth"
      for name in ["ann", "bob"] { try signUp(sandbox, cable, name, url) }
      let tmux = Tmux(sandbox)
      let ann = try open(tmux, cable, "ann", url)
      let bob = try open(tmux, cable, "bob", url)

      try compose(in: ann, "Over the cable")
      try bob.waitFor("Over the cable", within: 30)
      try bob.press("s")
      try ann.waitFor("the star", within: 30) { $0.contains(try! Regex("Over the cable.*☆ +1")) }
      try ann.press("Enter")
      try bob.press("Enter")
      try bob.waitFor("No comments")
      try bob.press("c")
      try bob.type("From far away")
      try bob.press("C-s")
      try ann.waitFor("From far away", within: 30)
      for pane in [ann, bob] {
        try pane.press("q")
        try pane.waitFor("Recent")
      }

      try cable.cut()
      try compose(in: ann, "While it was cut")
      try cable.join()
      try bob.waitFor("While it was cut", within: 60)

      try cable.slow()
      try compose(in: ann, "While it was slow")
      try bob.waitFor("While it was slow", within: 60)
      try cable.fast()

      try cable.makeLossy()
      try compose(in: ann, "While it was lossy")
      try bob.waitFor("While it was lossy", within: 120)
      try cable.makeSound()

      try cable.makeOneWay()
      try compose(in: ann, "While it was one-way")
      try ann.waitFor("not acknowledged", within: 30)
      try cable.makeTwoWay()
      try bob.waitFor("While it was one-way", within: 120)

      for pane in [ann, bob] {
        try pane.waitFor("everything is stored", within: 120) {
          $0.contains("online") && !$0.contains("not acknowledged")
        }
      }
      try check(sandbox, cable, url)
    }

    /// Checks that the posts have arrived once each and in order, and that the database has no
    /// fault.
    private func check(_ sandbox: Sandbox, _ cable: Cable, _ url: String) throws {
      let list = try far(sandbox, cable, "list", "--json", "--database", url)
      let titles = try list.lines.map { try object($0)["title"] as? String }
      let expected = [
        "While it was one-way", "While it was lossy", "While it was slow", "While it was cut",
        "Over the cable",
      ]
      #expect(titles == expected)
      let socket = "unix:\(sandbox.directory)/run/blog.sock?ns=hearth"
      let check = try sandbox.hearth("fsck", "--database", socket)
      #expect(check.status == 0, "\(check.output)\(check.errors)")
    }

    private func serve(_ sandbox: Sandbox, _ cable: Cable) throws -> Spawned {
      let output = sandbox.directory + "/server"
      let words = cable.words(.near) + [Sandbox.program, "serve"]
      let arguments = [
        "--address", Cable.nearAddress, "--port", "9000", "--allow-plaintext", "--rules",
        Self.rules, "--socket", sandbox.directory + "/run/blog.sock", "--data-dir",
        sandbox.directory + "/blog",
      ]
      let server = try Spawned(
        "/usr/bin/env",
        words + arguments,
        environment: sandbox.environment,
        output: output,
        errors: output + ".log"
      )
      try waitUntil("the server is ready", within: 60) {
        try String(contentsOfFile: output, encoding: .utf8).hasSuffix("\n")
      }
      #expect(
        try String(contentsOfFile: output + ".log", encoding: .utf8)
          .contains("WITHOUT ENCRYPTION")
      )
      return server
    }

    /// Runs the program on the far machine.
    private func far(
      _ sandbox: Sandbox,
      _ cable: Cable,
      _ arguments: String...,
      input: String? = nil
    ) throws -> Sandbox.Outcome {
      try sandbox.run(
        cable.words(.far) + [Sandbox.program] + arguments,
        of: "/usr/bin/env",
        input: input,
        environment: sandbox.environment
      )
    }

    private func signUp(_ sandbox: Sandbox, _ cable: Cable, _ name: String, _ url: String) throws {
      let outcome = try far(
        sandbox,
        cable,
        "sign-up",
        "--email",
        "\(name)@example.org",
        "--name",
        name,
        "--password-stdin",
        "--database",
        url,
        input: "correct horse\n"
      )
      #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func open(
      _ tmux: Tmux,
      _ cable: Cable,
      _ name: String,
      _ url: String
    ) throws -> Tmux.Pane {
      let words =
        cable.words(.far) + [Sandbox.program, "--database", "'\(url)'", "--account", name]
      let pane = try tmux.open(words.joined(separator: " "))
      try pane.waitFor("online", within: 30)
      return pane
    }

    private func compose(in pane: Tmux.Pane, _ title: String) throws {
      try pane.press("c")
      try pane.waitFor("New post")
      try pane.type(title)
      try pane.press("Tab")
      try pane.type("text")
      try pane.waitFor("text")
      try pane.press("C-s")
      try pane.waitFor("the form is closed") { !$0.contains("New post") }
      try pane.waitFor(title)
    }
  }
}
