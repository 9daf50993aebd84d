import Foundation
import Testing

extension EndToEnd {
  /// `hearth users`, as used by an administrator.
  @Suite("User administration", .timeLimit(.minutes(5)))
  struct UsersTests {
    private static let email = "ada@example.com"

    private func add(_ sandbox: Sandbox, _ words: String...) throws -> Sandbox.Outcome {
      try sandbox.run(["users", "add"] + words + ["--password-stdin"], input: "correct horse\n")
    }

    private func signIn(_ server: ServerProcess, _ password: String) throws -> String {
      let body = #"{"email":"\#(Self.email)","password":"\#(password)"}"#
      let answer = try server.request("POST", "/v1/accounts:signInWithPassword", body)
      guard answer.status == 200 else {
        let error = try object(answer.body)["error"] as? [String: Any]
        return error?["message"] as? String ?? ""
      }
      return "ok"
    }

    @Test("The server limits the token lifetime, and sign-in works after key rotation")
    func options() throws {
      let sandbox = try Sandbox()
      let server = try sandbox.serve("--port", "0", "--token-seconds", "7", "--no-sign-up")
      #expect(try server.request("POST", "/v1/accounts:signUp", "{}").status == 400)
      _ = try add(sandbox, Self.email)
      let body = #"{"email":"\#(Self.email)","password":"correct horse"}"#
      let answer = try server.request("POST", "/v1/accounts:signInWithPassword", body)
      #expect(try object(answer.body)["expiresIn"] as? String == "7")
      let rotated = try sandbox.hearth("users", "rotate-key", "--json")
      #expect(try (object(rotated.output)["keyId"] as? String)?.isEmpty == false)
      #expect(try signIn(server, "correct horse") == "ok")
    }

    @Test("Account and key files are private to their owner")
    func modes() throws {
      let sandbox = try Sandbox()
      try sandbox.serve("--port", "0").process.terminate()
      let directory = sandbox.directory + "/data/hearth/identities"
      var status = stat()
      #expect(stat(directory, &status) == 0 && status.st_mode & 0o777 == 0o700)
      let names = try FileManager.default.contentsOfDirectory(atPath: directory)
      #expect(names.contains("keys.json") && names.contains("custom-token-key.json"))
      for name in names {
        #expect(stat("\(directory)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600)
      }
      chmod(directory + "/keys.json", 0o644)
      try sandbox.refuse("serve", says: "keys.json to sign in as anyone")
    }

    @Test("A password is prompted for without echo", .needsTmux)
    func prompt() throws {
      let sandbox = try Sandbox()
      let pane = try sandbox.open("sh")
      try pane.enter("\(Sandbox.program) users add \(Self.email); echo status $?")
      try pane.waitFor("Password for \(Self.email):", within: 60)
      try pane.enter("correct horse")
      try pane.waitFor("again:", within: 30)
      try pane.enter("correct horse")
      try pane.waitFor("status 0", within: 60)
      #expect(try !pane.screen().contains("horse"))
    }

    @Test("Accounts can be administered over the port with a private key file")
    func keyFile() throws {
      let sandbox = try Sandbox()
      let secret = String(repeating: "k3y!", count: 10)
      let file = try sandbox.write(secret + "\n", to: "key")
      chmod(file, 0o644)
      let refused = try sandbox.hearth("serve", "--admin-key-file", file)
      #expect(refused.status == 2)
      #expect(refused.errors.contains("to become administrators"))
      chmod(file, 0o600)
      let server = try sandbox.serve("--port", "0", "--admin-key-file", file)
      let path = "/v1/projects/hearth/accounts:batchGet"
      #expect(try server.request("GET", path).status == 403)
      #expect(try server.request("GET", path, bearer: "owner").status == 403)
      #expect(try server.request("GET", path, bearer: secret).status == 200)
      #expect(try server.request("PUT", "/a.json", "1", bearer: secret).status == 200)
      #expect(try !server.text().contains("k3y!"))
      #expect(try server.request("GET", "/a.json").status == 401)
    }
  }
}
