import Foundation
import Testing

extension EndToEnd {
  /// A server on one machine and two users on another, with a bad cable in between.
  @Suite(
    "Two machines",
    .needsTmux,
    .enabled(
      if: Cable.isPossible,
      "namespaces cannot be made here (unshare, nsenter, ip); BadNetworkTests use a proxy instead"
    )
  )
  struct NetworkTests {
    @Test("Users post, star and comment over a network that is cut, slow, lossy and one-way")
    func wholeWay() throws {
      let sandbox = try Sandbox()
      let cable = try Cable(sandbox)
      try serve(sandbox, cable)
      let url = "http://\(Cable.nearAddress):9000?ns=hearth"
      for name in ["ann", "bob"] { try signUp(sandbox, cable, name, url) }
      let ann = try open(sandbox, cable, "ann", url)
      let bob = try open(sandbox, cable, "bob", url)

      try ann.compose("Over the cable")
      try ann.waitFor("Over the cable")
      try bob.waitFor("Over the cable", within: 30)
      try bob.press("s")
      try ann.waitFor("the star", within: 30) { $0.contains(try! Regex("Over the cable.*☆ +1")) }
      try ann.press("Enter")
      try bob.press("Enter", until: "No comments")
      try bob.press("c")
      try bob.type("From far away")
      try bob.press("C-s")
      try ann.waitFor("From far away", within: 30)
      for pane in [ann, bob] {
        try pane.press("q", until: "Recent")
      }

      try cable.cut()
      try ann.compose("While it was cut")
      try ann.waitFor("While it was cut")
      try cable.join()
      try bob.waitFor("While it was cut", within: 60)

      try cable.slow()
      try ann.compose("While it was slow")
      try ann.waitFor("While it was slow")
      try bob.waitFor("While it was slow", within: 60)
      try cable.fast()

      try cable.makeLossy()
      try ann.compose("While it was lossy")
      try ann.waitFor("While it was lossy")
      try bob.waitFor("While it was lossy", within: 120)
      try cable.makeSound()

      try cable.makeOneWay()
      try ann.compose("While it was one-way")
      try ann.waitFor("While it was one-way")
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
      let list = try far(sandbox, cable, ["list", "--json", "--database", url])
      let titles = try list.lines.map { try object($0)["title"] as? String }
      let expected = [
        "While it was one-way", "While it was lossy", "While it was slow", "While it was cut",
        "Over the cable",
      ]
      #expect(titles == expected)
      let socket = "unix:\(sandbox.directory)/run/blog.sock?ns=hearth"
      try sandbox.succeed("fsck", "--database", socket)
    }

    private func serve(_ sandbox: Sandbox, _ cable: Cable) throws {
      let output = sandbox.directory + "/server"
      let words = cable.words(.near) + [Sandbox.program, "serve"]
      let arguments = [
        "--address", Cable.nearAddress, "--port", "9000", "--allow-plaintext", "--rules",
        Sandbox.package + "/assets/rules/blog.json", "--socket",
        sandbox.directory + "/run/blog.sock", "--data-dir",
        sandbox.directory + "/blog",
      ]
      _ = try sandbox.start(
        words + arguments,
        of: "/usr/bin/env",
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
    }

    /// Runs the program on the far machine.
    private func far(
      _ sandbox: Sandbox,
      _ cable: Cable,
      _ arguments: [String],
      input: String? = nil
    ) throws -> Sandbox.Outcome {
      try sandbox.run(
        cable.words(.far) + [Sandbox.program] + arguments,
        of: "/usr/bin/env",
        input: input
      )
    }

    private func signUp(_ sandbox: Sandbox, _ cable: Cable, _ name: String, _ url: String) throws {
      let account = ["--email", "\(name)@example.org", "--name", name, "--password-stdin"]
      let outcome = try far(
        sandbox,
        cable,
        ["sign-up"] + account + ["--database", url],
        input: "correct horse\n"
      )
      #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func open(
      _ sandbox: Sandbox,
      _ cable: Cable,
      _ name: String,
      _ url: String
    ) throws -> Sandbox.Pane {
      let words =
        cable.words(.far) + [Sandbox.program, "--database", "'\(url)'", "--account", name]
      let pane = try sandbox.open(words.joined(separator: " "))
      try pane.waitFor("online", within: 30)
      return pane
    }
  }
}
