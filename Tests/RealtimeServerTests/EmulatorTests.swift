import RealtimeCore
import RealtimeServer
import RealtimeTransport
import Testing
import TransportTestSupport

/// Each of these is possible in the emulator, but not in an ordinary server.
@Suite("The emulator", .timeLimit(.minutes(1)))
struct EmulatorTests {
  // {"alg":"none","type":"JWT"}
  private static let header = "eyJhbGciOiJub25lIiwidHlwZSI6IkpXVCJ9"
  // {"iat":0,"exp":3600,"sub":"u1","firebase":{"sign_in_provider":"custom"}}
  private static let claims =
    "eyJpYXQiOjAsImV4cCI6MzYwMCwic3ViIjoidTEiLCJmaXJlYmFzZSI6eyJzaWduX2luX3Byb3ZpZGVyIjoiY3VzdG9tIn19"
  private static let token = "\(header).\(claims)."
  private static let rules =
    #"{"rules":{"mine":{"$u":{".read":"auth.uid === $u",".write":"auth.uid === $u"}}}}"#

  private func start(isEmulator: Bool) async throws -> DatabaseServer {
    var options = isEmulator ? DatabaseServer.Options.emulator(port: 0) : .init(port: 0)
    options.rules = isEmulator ? .open : .locked
    return try await .start(options)
  }

  private func answer(
    _ client: ClientProbe,
    _ action: String,
    _ body: String
  ) async throws -> String {
    client.send(#"{"t":"d","d":{"r":1,"a":"\#(action)","b":\#(body)}}"#)
    return try await client.next()
  }

  private func loadRules(_ server: DatabaseServer) async throws {
    let http = try await HTTPProbe(server.address)
    let answer = try await http.request(
      "PUT",
      "/.settings/rules.json",
      Self.rules,
      lines: ["Authorization: Bearer owner"]
    )
    #expect(answer.status == 200)
  }

  @Test("accepts pages served from localhost")
  func pages() async throws {
    for isEmulator in [true, false] {
      let server = try await start(isEmulator: isEmulator)
      let http = try await HTTPProbe(server.address)
      let page = "Origin: http://localhost:5173"
      #expect(
        try await http.request("GET", "/.json", lines: [page]).status == (isEmulator ? 200 : 403)
      )
      await server.stop()
    }
  }

  @Test(
    "accepts owner as an administrator over WebSockets, with either action",
    arguments: ["gauth", "auth"]
  )
  func owner(action: String) async throws {
    for isEmulator in [true, false] {
      let server = try await start(isEmulator: isEmulator)
      if isEmulator { try await loadRules(server) }
      let client = try await server.connectAndGreet()
      #expect(try await answer(client, "p", #"{"p":"/a","d":1}"#).contains("permission_denied"))
      let signIn = try await answer(client, action, #"{"cred":"owner"}"#)
      #expect(signIn.contains(isEmulator ? #""s":"ok""# : #""s":"invalid_token""#))
      let write = try await answer(client, "p", #"{"p":"/a","d":1}"#)
      #expect(write.contains(isEmulator ? #""s":"ok""# : "permission_denied"))
      await server.stop()
    }
  }

  @Test("accepts any bearer token as an administrator over REST", arguments: ["owner", "anything"])
  func bearer(credential: String) async throws {
    for isEmulator in [true, false] {
      let server = try await start(isEmulator: isEmulator)
      if isEmulator { try await loadRules(server) }
      let http = try await HTTPProbe(server.address)
      #expect(try await http.request("PUT", "/a.json", "1").status == 401)
      let lines = ["Authorization: Bearer \(credential)"]
      let answer = try await http.request("PUT", "/a.json", "1", lines: lines)
      #expect(answer.status == (isEmulator ? 200 : 401))
      await server.stop()
    }
  }

  @Test("accepts an unsigned token of any age for the user it names")
  func unsignedToken() async throws {
    for isEmulator in [true, false] {
      let server = try await start(isEmulator: isEmulator)
      if isEmulator { try await loadRules(server) }
      let client = try await server.connectAndGreet()
      let signIn = try await answer(client, "auth", #"{"cred":"\#(Self.token)"}"#)
      #expect(signIn.contains(isEmulator ? #""uid":"u1","provider":"custom""# : "invalid_token"))
      let write = try await answer(client, "p", #"{"p":"/mine/u1","d":1}"#)
      #expect(write.contains(isEmulator ? #""s":"ok""# : "permission_denied"))
      let other = try await answer(client, "p", #"{"p":"/mine/u2","d":1}"#)
      #expect(other.contains("permission_denied"))
      let http = try await HTTPProbe(server.address)
      let read = try await http.request("GET", "/mine/u1.json?auth=\(Self.token)")
      #expect(read.status == (isEmulator ? 200 : 401))
      await server.stop()
    }
  }

  @Test(
    "refuses tokens that are signed, name nobody or are malformed",
    arguments: [
      "eyJhbGciOiJSUzI1NiJ9.\(claims).AAAA", "\(header).e30.", "\(header).W10.", "a.b.c", "secret",
      "",
      "\(header).\(claims)", "\(header).!!!!.",
    ]
  )
  func badTokens(token: String) async throws {
    let server = try await start(isEmulator: true)
    let client = try await server.connectAndGreet()
    #expect(try await answer(client, "auth", #"{"cred":"\#(token)"}"#).contains("invalid_token"))
    await server.stop()
  }

  @Test("lets an administrator act as a user and as nobody")
  func overrides() async throws {
    for isEmulator in [true, false] {
      let server = try await start(isEmulator: isEmulator)
      if isEmulator { try await loadRules(server) }
      let allowed = isEmulator ? #""s":"ok""# : "permission_denied"
      let client = try await server.connectAndGreet()
      _ = try await answer(client, "gauth", #"{"cred":"owner","authvar":{"uid":"u1"}}"#)
      #expect(try await answer(client, "p", #"{"p":"/mine/u1","d":1}"#).contains(allowed))
      let other = try await answer(client, "p", #"{"p":"/mine/u2","d":1}"#)
      #expect(other.contains("permission_denied"))
      _ = try await answer(client, "gauth", #"{"cred":"owner","noauth":true}"#)
      let nobody = try await answer(client, "p", #"{"p":"/mine/u1","d":1}"#)
      #expect(nobody.contains("permission_denied"))
      let http = try await HTTPProbe(server.address)
      for (override, path, status) in [
        ("%7B%22uid%22:%22u1%22%7D", "u1", 200), ("%7B%22uid%22:%22u1%22%7D", "u2", 401),
        ("null", "u1", 401),
      ] {
        let answer = try await http.request(
          "PUT",
          "/mine/\(path).json?auth_variable_override=\(override)",
          "1",
          lines: ["Authorization: Bearer owner"]
        )
        #expect(answer.status == (isEmulator ? status : 401))
      }
      await server.stop()
    }
  }

  @Test("creates a database on first use")
  func creation() async throws {
    for isEmulator in [true, false] {
      let server = try await start(isEmulator: isEmulator)
      let http = try await HTTPProbe(server.address)
      let answer = try await http.request("PUT", "/a.json?ns=demo-1", "1")
      #expect(answer.status == (isEmulator ? 200 : 404))
      #expect(try await http.request("PUT", "/a.json?ns=Demo_1", "1").status == 404)
      let port = try #require(server.port)
      let target = ConnectionTarget(host: "127.0.0.1", port: port, namespace: "demo-2")
      let client = try await ClientProbe(target)
      if isEmulator {
        #expect(try await client.next().contains(#""t":"h""#))
      } else {
        #expect(try await client.closed().kind == .refused(status: 404))
      }
      await server.stop()
    }
  }

  private func emulator(databases: Int) async throws -> DatabaseServer {
    var options = DatabaseServer.Options.emulator(port: 0)
    options.limits.databases = databases
    return try await .start(options)
  }

  private func connect(_ server: DatabaseServer, to name: String) async throws -> ClientProbe {
    let port = try #require(server.port)
    return try await ClientProbe(ConnectionTarget(host: "127.0.0.1", port: port, namespace: name))
  }

  @Test("accepts any number of database names, one per test if need be, and keeps their data")
  func manyNames() async throws {
    let server = try await emulator(databases: 4)
    let http = try await HTTPProbe(server.address)
    for number in 0..<60 {
      let name = "test-\(number)"
      let put =
        number % 3 == 0 ? nil : try await http.request("PUT", "/a.json?ns=\(name)", "\(number)")
      #expect(put?.status ?? 200 == 200, "\(name)")
      let client = try await connect(server, to: name)
      #expect(try await client.next().contains(#""t":"h""#), "\(name)")
      client.close()
    }
    for number in 0..<60 {
      let body = number % 3 == 0 ? "null" : "\(number)"
      #expect(try await http.request("GET", "/a.json?ns=test-\(number)").body == body)
    }
    await server.stop()
  }

  @Test("tells clients why it refuses them so that none retries silently")
  func told() async throws {
    let server = try await emulator(databases: 3)
    let http = try await HTTPProbe(server.address)
    let clients = [try await connect(server, to: "one"), try await connect(server, to: "two")]
    for client in clients { _ = try await client.next() }
    let answer = try await http.request("GET", "/a.json?ns=three")
    #expect(answer.status == 429)
    #expect(answer.body.contains("too many databases open"))
    let refused = try await connect(server, to: "three")
    let message = try await refused.next()
    #expect(message.hasPrefix(#"{"t":"c","d":{"t":"s","d":"the server has too many"#), "\(message)")
    #expect(try await refused.closed().kind == .closedByPeer(code: 1_001))
    let misnamed = try await connect(server, to: "No_Name")
    #expect(try await misnamed.next().contains(#"{"t":"s","d":"there is no database"#))
    // As soon as a client leaves there is room.
    clients[0].close()
    _ = try await clients[0].closed()
    let deadline = ContinuousClock.now + .seconds(20)
    var status = 0
    while status != 200, ContinuousClock.now < deadline {
      status = try await http.request("GET", "/a.json?ns=three").status
    }
    #expect(status == 200)
    // Connected clients have not been disturbed.
    #expect(try await self.answer(clients[1], "p", #"{"p":"/a","d":1}"#).contains("ok"))
    await server.stop()
  }

  @Test("allows everything until a database has rules, and then only what they allow")
  func rules() async throws {
    for isEmulator in [true, false] {
      let server = try await start(isEmulator: isEmulator)
      let http = try await HTTPProbe(server.address)
      let open = isEmulator ? 200 : 401
      #expect(try await http.request("PUT", "/a.json", "1").status == open)
      let put = try await http.request(
        "PUT",
        "/.settings/rules.json",
        Self.rules,
        lines: ["Authorization: Bearer owner"]
      )
      #expect(put.status == open)
      #expect(try await http.request("PUT", "/a.json", "1").status == 401)
      let other = try await http.request("PUT", "/a.json?ns=other", "1")
      #expect(other.status == (isEmulator ? 200 : 404))
      await server.stop()
    }
  }
}
