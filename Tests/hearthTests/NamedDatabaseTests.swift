import Foundation
import Testing

extension EndToEnd {
  /// `--ns` of the commands that manage databases.
  @Suite("Named database", .timeLimit(.minutes(5)))
  struct NamedDatabaseTests {
    /// A data directory with the blog's database and another one, optionally with a server.
    private func sandbox(isServed: Bool = false) throws -> Sandbox {
      let sandbox = try Sandbox()
      try sandbox.hearth("set", "/a", #""blog""#)
      try sandbox.hearth("stop")
      #expect(try sandbox.hearth("databases", "create", "team").status == 0)
      if isServed { try sandbox.serve() }
      return sandbox
    }

    @Test("is renamed and deleted with its accounts while no server runs")
    func removed() throws {
      let sandbox = try sandbox()
      let rules = try sandbox.write(Sandbox.openRules, to: "rules.json")
      func serving<Result>(_ body: (ServerProcess) throws -> Result) throws -> Result {
        let server = try sandbox.serve("--port", "0")
        defer {
          server.process.terminate()
          server.process.wait()
        }
        return try body(server)
      }
      func status(_ server: ServerProcess, _ name: String, _ token: String) throws -> Int {
        try server.request("GET", "/x.json?ns=\(name)&auth=\(token)").status
      }
      func token(_ text: String, _ name: String) throws -> String {
        try #require(try object(text)[name] as? String)
      }
      let (id, refresh) = try serving { server in
        #expect(try sandbox.hearth("rules", "set", rules, "--ns", "team").status == 0)
        #expect(try server.request("PUT", "/x.json?ns=team", "1").status == 200)
        let account = try server.request("POST", "/v1/accounts:signUp?ns=team", "{}").body
        let id = try token(account, "idToken")
        #expect(try status(server, "team", id) == 200)
        let refused = try sandbox.hearth("databases", "delete", "team", "--yes")
        #expect(refused.status != 0 && refused.errors.contains("in use"), "\(refused.errors)")
        return (id, try token(account, "refreshToken"))
      }
      #expect(try sandbox.hearth("databases", "rename", "team", "hearth", "--yes").status == 6)
      #expect(try sandbox.hearth("databases", "rename", "hearth", "blog", "--yes").status == 2)
      #expect(try sandbox.hearth("databases", "rename", "team", "crew").status == 2)
      try sandbox.succeed("databases", "rename", "team", "crew", "--yes")
      #expect(try sandbox.hearth("databases").lines == ["crew", "hearth"])
      #expect(try sandbox.hearth("databases", "create", "team").status == 0)
      let newID = try serving { server in
        #expect(try sandbox.hearth("rules", "set", rules, "--ns", "team").status == 0)
        #expect(try status(server, "team", id) == 401)
        #expect(try server.request("GET", "/x.json?ns=crew").body == "1")
        let body = #"{"grant_type":"refresh_token","refresh_token":"\#(refresh)"}"#
        let id = try token(server.request("POST", "/v1/token?ns=crew", body).body, "id_token")
        #expect(try status(server, "crew", id) == 200)
        return id
      }
      try sandbox.succeed("databases", "delete", "crew", "--yes")
      #expect(try sandbox.hearth("databases").lines == ["hearth", "team"])
      #expect(try sandbox.hearth("databases", "delete", "crew", "--yes").status != 0)
      #expect(try sandbox.hearth("databases", "create", "crew").status == 0)
      try serving { (server: ServerProcess) throws -> Void in
        #expect(try sandbox.hearth("rules", "set", rules, "--ns", "crew").status == 0)
        #expect(try status(server, "crew", newID) == 401)
        #expect(try server.request("GET", "/x.json?ns=crew").body == "null")
      }
    }
  }
}
