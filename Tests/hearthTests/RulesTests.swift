import Foundation
import Testing

extension EndToEnd {
  /// `hearth rules`, with the tests' own documents and those in assets.
  @Suite("Rules on the command line")
  struct RulesTests {
    private static let rules = """
      {"rules": {
        "users": {"$uid": {
          ".read": "auth.uid === $uid",
          ".write": "auth.uid === $uid",
          "age": {".validate": "newData.isNumber() && newData.val() >= data.val()"}
        }},
        "admins": {".read": "auth.token.admin === true"},
        "posts": {".read": "query.orderByChild === 'date' && query.limitToLast <= 10"}
      }}
      """

    private func makePlace() throws -> (Sandbox, rules: String, data: String) {
      let sandbox = try Sandbox()
      return (
        sandbox, try sandbox.write(Self.rules, to: "rules.json"),
        try sandbox.write(#"{"users": {"ann": {"age": 3}}}"#, to: "data.json")
      )
    }

    @Test(
      "The bundled rules are well-formed",
      arguments: ["blog.json", "blog-transactions.json", "quickstart.json"]
    )
    func assets(name: String) throws {
      let sandbox = try Sandbox()
      let file = Sandbox.package + "/assets/rules/" + name
      let outcome = try sandbox.hearth("rules", "check", file)
      #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty)
    }

    @Test("An error is reported with file, line and column")
    func mistake() throws {
      let (sandbox, file, _) = try makePlace()
      try sandbox.write(
        Self.rules.replacing("auth.token", with: "auth..token"),
        to: "rules.json"
      )
      for command in [["check", file], ["explain", "--rules", file, "--read", "/admins"]] {
        let outcome = try sandbox.run(["rules"] + command)
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("\(file):7:"), "\(outcome.errors)")
      }
    }

    @Test("rules explain reports the decision and the deciding rule")
    func explanation() throws {
      let (sandbox, file, data) = try makePlace()
      func explain(_ arguments: String...) throws -> Sandbox.Outcome {
        try sandbox.run(["rules", "explain", "--rules", file, "--data", data] + arguments)
      }
      let own = try explain("--as", "ann", "--read", "/users/ann")
      #expect(own.status == 0)
      #expect(own.lines.first == "allowed")
      #expect(own.output.contains("/users/$uid"), "\(own.output)")
      for stranger in [["--as", "bob"], []] {
        let arguments = ["rules", "explain", "--rules", file, "--read", "/users/ann"] + stranger
        let other = try sandbox.run(arguments)
        #expect(other.status == 4)
        #expect(other.lines.first == "denied")
      }
      #expect(try explain("--as", "ann", "--write", "/users/ann/age", "4").status == 0)
      let younger = try explain("--as", "ann", "--write", "/users/ann/age", "2")
      #expect(younger.status == 4)
      #expect(younger.output.contains("newData.val() >= data.val()"), "\(younger.output)")
      #expect(try explain("--as", "ann", "--write", "/users/ann").status == 0)
      let both = #"{"ann/age": 5, "ann/name": "Ann"}"#
      #expect(try explain("--as", "ann", "--write", "/users", both, "--update").status == 0)
      let mixed = #"{"ann/age": 5, "bob/age": 5}"#
      #expect(try explain("--as", "ann", "--write", "/users", mixed, "--update").status == 4)
      #expect(try explain("--as", "ann", "--write", "/users", "5", "--update").status == 2)
      let json = try explain("--as", "bob", "--write", "/users/ann", "1", "--json")
      #expect(json.status == 4)
      #expect(json.output.contains(#""allowed":false"#), "\(json.output)")
    }

    @Test("rules explain takes the query into account")
    func selection() throws {
      let (sandbox, file, _) = try makePlace()
      func explain(_ arguments: String...) throws -> Sandbox.Outcome {
        try sandbox.run(["rules", "explain", "--rules", file] + arguments)
      }
      func query(_ text: String) throws -> Sandbox.Outcome {
        try explain("--read", "/posts", "--query", text)
      }
      #expect(try query(#"orderBy="date"&limitToLast=10"#).status == 0)
      #expect(try query(#"orderBy="date"&limitToLast=11"#).status == 4)
      #expect(try explain("--read", "/posts").status == 4)
      for (wrong, word) in [
        ("limit=1", "limitToFirst"), ("orderBy=date", "JSON"), ("limitToLast=1", "orderBy"),
      ] {
        let outcome = try query(wrong)
        #expect(outcome.status == 2 && outcome.errors.contains(word), "\(outcome.errors)")
      }
      #expect(try explain("--write", "/posts", "1", "--query", "orderBy=1").status == 2)
    }

    @Test("rules explain uses the blog's rules by default")
    func blog() throws {
      let sandbox = try Sandbox()
      func explain(_ arguments: String...) throws -> Sandbox.Outcome {
        try sandbox.run(["rules", "explain"] + arguments)
      }
      #expect(try explain("--as", "ann", "--read", "/posts").status == 0)
      let denied = try explain("--as", "ann", "--write", "/posts/p", "1")
      #expect(denied.status == 4)
      #expect(denied.output.contains("/posts/$"), "\(denied.output)")
    }

    @Test("rules explain accepts a user with token claims")
    func claims() throws {
      let (sandbox, file, _) = try makePlace()
      func explain(_ user: String) throws -> Sandbox.Outcome {
        try sandbox.hearth("rules", "explain", "--rules", file, "--read", "/admins", "--as", user)
      }
      #expect(try explain(#"{"uid": "ann", "token": {"admin": true}}"#).status == 0)
      #expect(try explain(#"{"uid": "ann", "token": {"admin": false}}"#).status == 4)
      #expect(try explain("ann").status == 4)
      let wrong = try explain(#"{"uid": "#)
      #expect(wrong.status == 2)
      #expect(wrong.errors.contains("--as, line 1"), "\(wrong.errors)")
    }
  }
}
