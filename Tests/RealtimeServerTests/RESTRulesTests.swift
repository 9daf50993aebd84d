import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("REST under rules", .timeLimit(.minutes(1)))
struct RESTRulesTests {
  static let rules = """
    {"rules": { // what tests need
      "public": {".read": true},
      "users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid",
        "age": {".validate": "newData.isNumber()"}}},
      "posts": {".read": true, ".indexOn": ["n"]},
      "box": {".write": true}
    }}
    """
  static let data = #"""
    {"public":1,"users":{"ann":{"age":3},"bob":{"age":4}},"box":{"old":1},
     "posts":{"a":{"n":2,"m":1},"b":{"n":1,"m":2}}}
    """#
  static let denied = RESTCase.error("Permission denied")
  static let root = "Authorization: Bearer root"
  static let settings = "/.settings/rules.json"
  static let time: Int64 = 1_700_000_000_000

  private func start(
    rules: String? = RESTRulesTests.rules,
    socketPath: String? = nil,
    clock: @escaping @Sendable () -> Int64 = { RESTRulesTests.time }
  ) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(socketPath: socketPath, port: 0)
    options.credentialVerifier = NamedVerifier()
    let root = try Node(json: try JSONParser.parse(Self.data))
    return try await .start(
      options,
      store: MemoryTreeStore(StoredTree(root: root, rules: rules)),
      clock: clock
    )
  }

  static let requests: [RESTCase] = [
    RESTCase("GET", "/public.json", 200, "1"),
    RESTCase("GET", "/users/ann.json", 401, denied),
    RESTCase("GET", "/.json", 401, denied),
    RESTCase("GET", "/users/ann.json?auth=ann", 200, #"{"age":3}"#),
    RESTCase("GET", "/users/ann.json?auth=bob", 401, denied),
    RESTCase("GET", "/users/ann.json?shallow=true&auth=ann", 200, #"{"age":true}"#),
    RESTCase("HEAD", "/users/ann.json", 401, ""),
    RESTCase("PUT", "/users/ann/age.json?auth=ann", "4", 200, "4"),
    RESTCase("PUT", "/users/ann/age.json?auth=bob", "4", 401, denied),
    RESTCase("PUT", "/users/ann/age.json?auth=ann", #""x""#, 401, denied),
    RESTCase("PUT", "/users/ann/age.json", "3", 401, denied),
    RESTCase("PATCH", "/users.json?auth=ann", #"{"ann/x":1}"#, 200, #"{"ann/x":1}"#),
    RESTCase("PATCH", "/users.json?auth=ann", #"{"ann/x":1,"bob/x":1}"#, 401, denied),
    RESTCase("POST", "/users/ann.json?auth=bob", "1", 401, denied),
    RESTCase("DELETE", "/users/ann.json?auth=bob", 401, denied),
    RESTCase("DELETE", "/users/ann.json?auth=ann", 200, "null"),
    RESTCase("GET", "/public.json?auth=bad", 401, error("Could not parse auth token.")),
    RESTCase("PUT", "/users/ann.json?auth=bad", "1", 401, error("Could not parse auth token.")),
    RESTCase("GET", "/public.json?auth=ann:\(time)", 401, error("Auth token is expired")),
    RESTCase("GET", "/public.json?auth=ann:\(time + 1)", 200, "1"),
    RESTCase("GET", "/public.json?auth=root", 401, error("This is another kind of token.")),
    RESTCase(
      "GET",
      "/public.json?access_token=ann",
      401,
      error("This is another kind of token.")
    ),
    RESTCase(
      "GET",
      "/public.json",
      lines: ["Authorization: Basic cm9vdA=="],
      401,
      error("Could not parse auth token.")
    ),
    RESTCase("GET", "/users/bob/age.json?access_token=root", 200, "4"),
    RESTCase("GET", "/users/bob/age.json", lines: [root], 200, "4"),
    RESTCase("GET", "/users/bob/age.json", lines: ["authorization: bearer root"], 200, "4"),
    RESTCase("PUT", "/users/bob/age.json", #""x""#, lines: [root], 200, #""x""#),
    RESTCase("GET", #"/users/bob/age.json?auth_variable_override={"uid":"bob"}"#, 401, denied),
    RESTCase(
      "GET",
      #"/users/bob/age.json?auth=ann&auth_variable_override={"uid":"bob"}"#,
      401,
      denied
    ),
    RESTCase(
      "GET",
      #"/users/bob/age.json?auth_variable_override={"uid":"bob"}"#,
      lines: [root],
      200,
      "4"
    ),
    RESTCase("GET", "/public.json?auth_variable_override=null", lines: [root], 200, "1"),
    RESTCase(
      "GET",
      "/public.json?auth_variable_override=5",
      lines: [root],
      400,
      error("auth_variable_override must be a JSON object or null")
    ),
    RESTCase("GET", #"/posts.json?orderBy="n"&limitToFirst=1"#, 200, #"{"b":{"m":2,"n":1}}"#),
    RESTCase("GET", #"/posts.json?orderBy="$key"&limitToFirst=1"#, 200, #"{"a":{"m":1,"n":2}}"#),
    RESTCase("GET", #"/posts.json?orderBy="m"&limitToFirst=1"#, 400, noIndex("m")),
    RESTCase("GET", #"/posts.json?orderBy="m"&limitToFirst=1"#, lines: [root], 400, noIndex("m")),
    RESTCase("GET", #"/posts.json?orderBy="$value"&startAt=1"#, 400, noIndex(".value")),
    RESTCase("GET", #"/posts.json?orderBy="m""#, 400, noIndex("m")),
    RESTCase("GET", #"/posts/a.json?orderBy="$key""#, 200, #"{"m":1,"n":2}"#),
    RESTCase("GET", #"/posts/a.json?orderBy="$priority""#, 200, #"{"m":1,"n":2}"#),
    RESTCase(
      "GET",
      #"/posts.json?orderBy="m""#,
      lines: ["Accept: text/event-stream"],
      400,
      noIndex("m")
    ),
    RESTCase(
      "GET",
      #"/posts.json?orderBy="m"&limitToFirst=1"#,
      lines: ["Accept: text/event-stream"],
      400,
      noIndex("m")
    ),
    RESTCase(
      "GET",
      "/users/ann.json",
      lines: ["Accept: text/event-stream"],
      401,
      denied
    ),
    RESTCase(
      "GET",
      "/public.json?auth=bad",
      lines: ["Accept: text/event-stream"],
      401,
      error("Could not parse auth token.")
    ),
    RESTCase("PUT", "/box.json", #"{"old":2}"#, 200, #"{"old":2}"#),
    RESTCase(
      "PUT",
      "/box/old.json",
      #"{".sv":{"increment":5}}"#,
      lines: ["X-Firebase-ETag: true"],
      200,
      "6"
    ),
    RESTCase(
      "PUT",
      "/box/old.json",
      "5",
      lines: ["if-match: x"],
      412,
      error("the data at /box/old has changed")
    ),
    RESTCase(
      "PUT",
      "/users/ann/age.json?auth=ann",
      "5",
      lines: ["if-match: x"],
      412,
      "3"
    ),
    RESTCase("PUT", "/secret.json", "5", lines: ["if-match: null_etag"], 401, denied),
    RESTCase("GET", settings, 401, denied),
    RESTCase("GET", "\(settings)?auth=ann", 401, denied),
    RESTCase("GET", settings, lines: [root], 200, rules),
    RESTCase("PUT", settings, #"{"rules":{}}"#, 401, denied),
    RESTCase("PUT", settings, #"{"rules":{}}"#, lines: [root], 200, #"{"status":"ok"}"#),
    RESTCase("PUT", settings, "", lines: [root], 400, RESTCase.noBody),
    RESTCase(
      "PUT",
      "\(settings)?auth_variable_override=null",
      #"{"rules":{}}"#,
      lines: [root],
      401,
      denied
    ),
    RESTCase(
      "POST",
      settings,
      #"{"rules":{}}"#,
      lines: [root],
      405,
      error("the method must be GET or PUT")
    ),
    RESTCase("GET", "\(settings)?format=x", lines: [root], 400, error("format must be strict")),
  ]

  private static func error(_ text: String) -> String { RESTCase.error(text) }

  private static func noIndex(_ name: String) -> String {
    error(
      #"Index not defined, add \".indexOn\": \"\#(name)\", for path \"/posts\", to the rules"#
    )
  }

  @Test("answers according to rules and credentials", arguments: requests)
  func request(test: RESTCase) async throws {
    let server = try await start()
    let http = try await HTTPProbe(server.address)
    let answer = try await http.request(test.method, test.target, test.sent, lines: test.lines)
    #expect(answer.status == test.status)
    #expect(answer.body == test.body)
    await server.stop()
  }

  @Test("tells an impersonating administrator no more than the user would learn")
  func explanation() async throws {
    let server = try await start()
    let http = try await HTTPProbe(server.address)
    let target = "/users/bob.json?auth_variable_override=%7B%22uid%22:%22ann%22%7D"
    let answer = try await http.request("GET", target, lines: [Self.root])
    #expect(answer.status == 401)
    #expect(answer.body == #"{"error":"Permission denied"}"#)
    let stream = try await HTTPProbe(server.address)
    let lines = [Self.root, "Accept: text/event-stream"]
    stream.send(HTTPProbe.text("GET", target, lines: lines))
    #expect(try await stream.answer().body == #"{"error":"Permission denied"}"#)
    await server.stop()
  }

  @Test("treats processes on its private socket as administrators")
  func unixSocket() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    let server = try await start(rules: nil, socketPath: path)
    let http = try await HTTPProbe(.unix(path: path))
    #expect(try await http.request("GET", "/public.json").body == "1")
    let override = "auth_variable_override=%7B%22uid%22:%22ann%22%7D"
    #expect(try await http.request("GET", "/public.json?\(override)").status == 401)
    #expect(try await http.request("PUT", Self.settings, Self.rules).status == 200)
    #expect(try await http.request("GET", "/users/ann/age.json?\(override)").body == "3")
    #expect(try await http.request("GET", "/users/bob/age.json?\(override)").status == 401)
    let network = try await HTTPProbe(server.address)
    #expect(try await network.request("GET", Self.settings).status == 401)
    await server.stop()
  }

  @Test("applies valid rules and returns them as written")
  func replacing() async throws {
    let server = try await start()
    let http = try await HTTPProbe(server.address)
    let open = "{ /* all\n may read */ \"rules\": {\".read\": true,\n  \".indexOn\": [\"x\"]}}"
    let lines = [Self.root]
    let rehearsal = try await http.request(
      "PUT",
      "\(Self.settings)?dryRun=true",
      open,
      lines: lines
    )
    #expect(rehearsal.body == #"{"status":"ok"}"#)
    #expect(try await http.request("GET", "/users.json").status == 401)
    #expect(try await http.request("PUT", Self.settings, open, lines: lines).status == 200)
    #expect(try await http.request("GET", "/users/bob/age.json").body == "4")
    #expect(try await http.request("GET", Self.settings, lines: lines).body == open)
    let strict = try await http.request("GET", "\(Self.settings)?format=strict", lines: lines)
    #expect(strict.body == #"{"rules":{".read":true,".indexOn":["x"]}}"#)
    #expect(strict.lines["content-type"] == "application/json; charset=utf-8")
    let pretty = try await http.request(
      "GET",
      "\(Self.settings)?format=strict&print=pretty",
      lines: lines
    )
    #expect(pretty.body.hasPrefix("{\n  \"rules\": {\n    \".read\": true,\n"))
    await server.stop()
  }

  @Test(
    "refuses invalid rules with the line and keeps the old ones",
    arguments: ["", "?dryRun=true"]
  )
  func mistake(parameters: String) async throws {
    let server = try await start()
    let http = try await HTTPProbe(server.address)
    let source = "{\n  \"rules\": {\n    \".read\": \"auth.admin\"\n  }\n}"
    let target = Self.settings + parameters
    let answer = try await http.request("PUT", target, source, lines: [Self.root])
    #expect(answer.status == 400)
    #expect(answer.body.hasPrefix(#"{"error":"Line 3: "#))
    #expect(try await http.request("GET", "/public.json").status == 200)
    #expect(try await http.request("GET", Self.settings, lines: [Self.root]).body == Self.rules)
    await server.stop()
  }

  @Test("acknowledges new rules only once they are stored")
  func durability() async throws {
    let store = GateStore()
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.credentialVerifier = NamedVerifier()
    let server = try await DatabaseServer.startForTest(options, store: store)
    let writer = try await HTTPProbe(server.address)
    let rules = #"{"rules":{}}"#
    writer.send(HTTPProbe.text("PUT", Self.settings, rules, lines: [Self.root]))
    try await store.waitForCommit()
    let reader = try await HTTPProbe(server.address)
    let shown = try await reader.request("GET", Self.settings, lines: [Self.root])
    #expect(shown.body != rules)
    store.open()
    #expect(try await writer.answer().body == #"{"status":"ok"}"#)
    #expect(try await reader.request("GET", Self.settings, lines: [Self.root]).body == rules)
    await server.stop()
  }

  @Test("ends WebSocket listens that new rules forbid")
  func webSocket() async throws {
    let server = try await start()
    let client = try await server.connectAndGreet()
    client.send(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/public","h":""}}}"#)
    for _ in 0..<2 { _ = try await client.next() }
    let http = try await HTTPProbe(server.address)
    _ = try await http.request("PUT", Self.settings, #"{"rules":{}}"#, lines: [Self.root])
    #expect(try await client.next() == #"{"t":"d","d":{"a":"c","b":{"p":"public"}}}"#)
    client.send(#"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/box","d":1}}}"#)
    #expect(try await client.next().contains(#""s":"permission_denied""#))
    await server.stop()
  }

  @Test("accepts in emulator mode what the emulator accepts")
  func emulator() async throws {
    let server = try await DatabaseServer.startForTest(.emulator(port: 0))
    let http = try await HTTPProbe(server.address)
    let owner = ["Authorization: Bearer owner"]
    let rules = #"{"rules":{"$uid":{".read":"auth.uid === $uid && auth.token.aud === 'demo'"}}}"#
    #expect(try await http.request("PUT", "/u1.json?ns=demo", "7").body == "7")
    let answer = try await http.request("PUT", "\(Self.settings)?ns=demo", rules, lines: owner)
    #expect(answer.body == #"{"status":"ok"}"#)
    // An unsigned token that expired in 1970.
    let token =
      "eyJhbGciOiJub25lIiwidHlwZSI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL3NlY3VyZXRva2VuLmdvb2dsZS5jb20"
      + "vZGVtbyIsImF1ZCI6ImRlbW8iLCJpYXQiOjAsImV4cCI6MzYwMCwiYXV0aF90aW1lIjowLCJzdWIiOiJ1MSIsInVz"
      + "ZXJfaWQiOiJ1MSIsImZpcmViYXNlIjp7InNpZ25faW5fcHJvdmlkZXIiOiJjdXN0b20iLCJpZGVudGl0aWVzIjp7f"
      + "X19."
    for (target, lines, status) in [
      ("/u1.json?ns=demo&auth=\(token)", [], 200), ("/u2.json?ns=demo&auth=\(token)", [], 401),
      ("/u1.json?ns=demo", [], 401), ("/u2.json?ns=demo", owner, 200),
      ("/u1.json?ns=demo&auth=x", [], 401), ("/u1.json?ns=other", [], 200),
    ] {
      #expect(try await http.request("GET", target, lines: lines).status == status)
    }
    await server.stop()
  }

  // MARK: Event streams

  private func openStream(_ server: DatabaseServer, _ target: String) async throws -> HTTPProbe {
    let stream = try await HTTPProbe(server.address)
    let answer = try await stream.request("GET", target, lines: ["Accept: text/event-stream"])
    #expect(answer.status == 200)
    #expect(try await stream.chunk().hasPrefix("event: put\n"))
    return stream
  }

  @Test("cancels an event stream that new rules forbid and keeps the others")
  func cancelledStream() async throws {
    let server = try await start()
    let lost = try await openStream(server, "/users/ann.json?auth=ann")
    let kept = try await openStream(server, "/posts.json?orderBy=%22n%22&limitToFirst=1")
    let http = try await HTTPProbe(server.address)
    let rules = #"{"rules":{"posts":{".read":true,".write":true,".indexOn":["n"]}}}"#
    #expect(try await http.request("PUT", Self.settings, rules, lines: [Self.root]).status == 200)
    #expect(try await lost.chunk() == "event: cancel\ndata: null\n\n")
    #expect(try await lost.chunk().isEmpty)
    _ = try await http.request("PUT", "/posts/c.json", #"{"n":0}"#)
    #expect(
      try await kept.chunk()
        == "event: patch\ndata: {\"path\":\"/\",\"data\":{\"c\":{\"n\":0},\"b\":null}}\n\n"
    )
    await server.stop()
  }

  @Test("tells an event stream that its credential has expired")
  func endedCredential() async throws {
    let clock = NIOLockedValueBox(Self.time)
    let server = try await start(clock: { clock.withLockedValue { $0 } })
    let stream = try await openStream(server, "/users/ann.json?auth=ann:\(Self.time + 50)")
    clock.withLockedValue { $0 += 50 }
    let reason = "Auth token is expired."
    #expect(try await stream.chunk() == "event: auth_revoked\ndata: \"\(reason)\"\n\n")
    #expect(try await stream.chunk().isEmpty)
    await server.stop()
  }
}
