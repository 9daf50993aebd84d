import Foundation
import Testing

extension EndToEnd {
  /// What commands say when the blog's rules refuse them.
  @Suite("Refused commands")
  struct RefusedCommandTests {
    /// A command for each way to read and to write, on a post and a comment.
    private static func commands(_ post: String, _ comment: String, _ uid: String) -> [[String]] {
      [
        ["list"], ["list", "top"], ["list", "mine"], ["list", "following"], ["list", "#tea"],
        ["search", "tea"], ["show", post], ["people"], ["notices"], ["get", "/posts"],
        ["post", "--title", "T", "--body", "B"], ["comment", post, "C"],
        ["comment", post, "C", "--answer", comment], ["star", post], ["unstar", post],
        ["edit", post, "--body", "N"], ["edit", post, comment, "--body", "N"],
        ["delete", post], ["delete", post, comment], ["follow", uid], ["unfollow", uid],
        ["mute", uid], ["unmute", uid], ["block", uid], ["unblock", uid], ["bookmark", post],
        ["unbookmark", post],
        ["read", post], ["read", "--all"], ["unread", post], ["set", "/posts/x", "1"],
        ["watch", "--count", "1"],
      ]
    }

    @Test("Without an account, every command says how to sign in; as another user, who is allowed")
    func refused() throws {
      let sandbox = try Sandbox()
      let (_, url) = try sandbox.serveBlog()
      func hearth(_ arguments: [String]) throws -> Sandbox.Outcome {
        try sandbox.run(arguments + ["--database", url])
      }
      for name in ["ann", "bob"] { try sandbox.signUp(name, at: url) }
      let ann = ["--account", "ann"]
      let id = try #require(
        try hearth(["post", "--title", "#tea", "--body", "B"] + ann).lines.first
      )
      let comment = try #require(try hearth(["comment", id, "C"] + ann).lines.first)
      let uid = try #require(try object(hearth(["show", id, "--json"]).output)["uid"] as? String)

      // Signed in as somebody else.
      for arguments in [
        ["edit", id, "--body", "N"], ["edit", id, comment, "--body", "N"], ["delete", id],
        ["delete", id, comment],
      ] {
        let outcome = try hearth(arguments)
        #expect(outcome.status == 4, "\(arguments)")
        #expect(outcome.errors.contains("written by ann; only they can change it"), "\(arguments)")
      }
      for arguments in Self.commands(id, comment, uid) {
        let outcome = try hearth(arguments + ["--user", "carol"])
        #expect(outcome.status == 4, "\(arguments): \(outcome.errors)")
        #expect(outcome.errors.contains("without --user, you are signed in as bob"), "\(arguments)")
      }
      for name in ["bob", "ann"] { _ = try hearth(["sign-out", "--account", name]) }
      for arguments in Self.commands(id, comment, uid) {
        let outcome = try hearth(arguments)
        #expect(outcome.status == 4, "\(arguments): \(outcome.errors)")
        let advice = "you are reading without an account; \"hearth sign-in --email ADDRESS"
        #expect(outcome.errors.contains(advice), "\(arguments): \(outcome.errors)")
        #expect(outcome.errors.contains("--database '\(url)'\" signs in"), "\(arguments)")
      }
    }

    @Test("The suggested rules command reproduces the refusal")
    func explained() throws {
      let sandbox = try Sandbox()
      let (_, url) = try sandbox.serveBlog()
      try sandbox.signUp("ann", at: url)
      for arguments in [
        ["set", "/posts/x", #"{"title": "it's"}"#], ["set", "/users/bob/username", "\"ann\""],
        ["get", "/seen/bob"], ["set", "/nowhere", "1"],
        ["set", "/nowhere", "\"\(String(repeating: "long ", count: 20_000))\""],
      ] {
        let refusal = try refusal(of: arguments + ["--database", url], in: sandbox)
        #expect(refusal.contains("permission denied at \(arguments[1]);"))
        _ = try explanation(of: refusal, in: sandbox)
      }
    }

    @Test("The suggested command covers the refused query and the post of a transaction")
    func explainedQueries() throws {
      let sandbox = try Sandbox()
      let few = "query.limitToLast <= 3 || query.equalTo === 'none'"
      let rules = try sandbox.write(
        """
        {"rules": {
          "posts": {
            ".read": "\(few)",
            "$post": {
              ".read": true,
              ".write": "auth.uid === newData.child('uid').val() && !newData.hasChild('stars')",
              "starCount": {".write": "auth.uid === 'nobody'"}
            }
          },
          "user-posts": {".read": "\(few)", ".write": true, ".indexOn": "starCount"},
          "users": {".read": true, ".write": true}
        }}
        """,
        to: "rules.json"
      )
      let (_, url) = try sandbox.serveBlog(rules: rules)
      try sandbox.signUp("ann", at: url)
      let id = try #require(
        try sandbox.run(
          ["post", "--title", "T's", "--body", "B & \"C\"", "--database", url]
        ).lines.first
      )
      for (arguments, part) in [
        (["list"], #""query":"orderBy=\"$key\"&limitToLast="#),
        (["list", "top"], #""query":"orderBy=\"starCount\"&limitToLast="#),
        (["list", "mine"], "limitToLast="), (["search", "T"], #""read":"/posts""#),
        (["get", "/posts"], #""read":"/posts","query":null"#),
        (["star", id, "--stars", "transaction"], #""write":"/posts/\#(id)","update":false"#),
        (["star", id, "--stars", "increment"], #""write":"/","update":true"#),
      ] {
        let refusal = try refusal(of: arguments + ["--database", url], in: sandbox)
        let file = try String(contentsOfFile: requestFile(of: refusal), encoding: .utf8)
        #expect(file.contains(part), "\(file)")
        let answer = try explanation(of: refusal, in: sandbox)
        #expect(answer.contains("posts"), "\(answer)")
      }
    }

    private func refusal(of arguments: [String], in sandbox: Sandbox) throws -> String {
      let outcome = try sandbox.run(arguments)
      #expect(outcome.status == 4, "\(arguments): \(outcome.errors)")
      return outcome.errors
    }

    private func requestFile(of refusal: String) throws -> String {
      let rest = try #require(refusal.split(separator: " --request ").dropFirst().first)
      return String(rest.prefix { $0 != "\"" })
    }

    /// What the command prints that a refusal advises, which is a denial.
    private func explanation(of refusal: String, in sandbox: Sandbox) throws -> String {
      let start = try #require(refusal.range(of: "hearth rules explain "), "\(refusal)")
      let line = String(refusal[start.lowerBound...].prefix { $0 != "\"" })
      let place = " --data-dir \(sandbox.directory)/blog"
      let script = "hearth() { \"$program\" \"$@\"; }; \(line)\(place)"
      let answer = try sandbox.run(
        ["-c", "program='\(Sandbox.program)'; \(script)"],
        of: "/bin/bash"
      )
      #expect(answer.status == 4, "\(line) \(answer.errors)")
      #expect(answer.lines.first == "denied", "\(line) \(answer.output) \(answer.errors)")
      return answer.output
    }
  }
}
