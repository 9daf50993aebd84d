import Foundation
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeServer
import RealtimeTransport
import Testing
import TransportTestSupport

/// What the rules of a shared blog refuse, on every way that a stranger can use.
@Suite("Attacks on a blog's server", .timeLimit(.minutes(2)))
struct BlogAttackTests {
  private static let post =
    #"{"uid":"alice","author":"Alice","title":"T","body":"B","starCount":1,"stars":{"carol":true}}"#
  private static let data = """
    {"users":{"alice":{"username":"Alice"},"bob":{"username":"Bob"}},
     "posts":{"p":\(post)},"user-posts":{"alice":{"p":\(post)}},
     "post-comments":{"p":{"c":{"uid":"alice","author":"Alice","text":"hi"}}},
     "presence":{"alice":{"t1":{"name":"Alice","terminal":"tty","since":1}}},
     "typing":{"p":{"alice":{"name":"Alice","at":1}}},
     "seen":{"alice":{"before":0,"marks":{"m001":{"post":"p","read":"c"}}}}}
    """

  private func start() async throws -> DatabaseServer {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = package.appendingPathComponent("assets/rules/blog.json")
    let rules = try String(contentsOf: file, encoding: .utf8)
    var options = DatabaseServer.Options(port: 0)
    options.credentialVerifier = NamedVerifier()
    // The test's clock stands still, and with it the allowance for writes.
    options.limits.writeBurst = 100_000
    let root = try Node(json: try JSONParser.parse(Self.data))
    return try await .startForTest(
      options,
      store: MemoryTreeStore(StoredTree(root: root, rules: rules))
    )
  }

  /// Every path of the data apart from bob's own.
  private static func locations() throws -> [String] {
    var found: [String] = []
    func walk(_ value: JSONValue, _ path: String) {
      if !path.isEmpty, !path.hasSuffix("/bob"), !path.contains("/bob/") { found.append(path) }
      for member in value.members ?? [] { walk(member.value, path + "/" + member.name) }
    }
    walk(try JSONParser.parse(data), "")
    return found
  }

  /// The values to write: nothing, other data, and priorities, small and large.
  private static let values = [
    "null", "5", #""Defaced""#, #"{"x":1}"#, #"{".value":"Defaced",".priority":"x"}"#,
    "\"\(String(repeating: "x", count: 20_000))\"",
  ]

  /// What bob may not write even at his own paths.
  private static let excesses: [(path: String, json: String)] = [
    ("/users/bob/username/.priority", #""x""#), ("/users/bob/.priority", "1"),
    ("/users/bob", #"{"username":{".value":"Bob",".priority":"x"}}"#),
    ("/users/bob/username", "\"\(String(repeating: "x", count: 201))\""),
    ("/seen/bob", "\"\(String(repeating: "x", count: 20_000))\""),
    ("/seen/bob/marks/any", #"{"post":"p","read":"c"}"#),
    ("/seen/bob", #"{"before":{".value":0,".priority":"x"}}"#),
    ("/presence/bob/terminal-of-my-own", #"{"name":"Bob","terminal":"tty","since":1}"#),
    ("/presence/bob/t1", #"{"name":"Bob","terminal":"tty","since":1,".priority":"x"}"#),
    ("/posts/p/stars/bob", "true"), ("/posts/p/starCount", #"{".sv":{"increment":1}}"#),
  ]

  private static func attempts() throws -> [(path: String, json: String)] {
    let others = try locations().flatMap { path in
      values.map { (path, $0) } + [(path + "/.priority", #""x""#)]
    }
    // A count that keeps its value does no harm.
    return others.filter { !$0.0.hasSuffix("/starCount") || $0.1 != "1" } + excesses
  }

  private func contents(_ server: DatabaseServer) async throws -> String {
    let http = try await HTTPProbe(server.address)
    let lines = ["Authorization: Bearer root"]
    return try await http.request("GET", "/.json?format=export", lines: lines).body
  }

  @Test("REST requests without permission change nothing", arguments: ["?auth=bob", ""])
  func requests(credential: String) async throws {
    let server = try await start()
    let before = try await contents(server)
    let http = try await HTTPProbe(server.address)
    for (path, json) in try Self.attempts() {
      var requests = [("PUT", "\(path).json\(credential)", json)]
      let name = path.split(separator: "/").map(String.init)
      requests.append(
        ("PATCH", "/.json\(credential)", #"{"\#(name.joined(separator: "/"))":\#(json)}"#)
      )
      if json == "null" { requests.append(("DELETE", "\(path).json\(credential)", "")) }
      for (method, target, body) in requests {
        let answer = try await http.request(method, target, body)
        #expect([400, 401].contains(answer.status), "\(method) \(target) \(body.prefix(80))")
      }
    }
    #expect(try await contents(server) == before)
    await server.stop()
  }

  @Test("WebSocket writes without permission change nothing: direct, onDisconnect or conditional")
  func messages() async throws {
    let server = try await start()
    let before = try await contents(server)
    let client = try await server.connectAndGreet()
    func answer(_ number: Int, _ action: String, _ body: String) async throws -> String {
      client.send(#"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":\#(body)}}"#)
      return try await client.next()
    }
    #expect(try await answer(1, "auth", #"{"cred":"bob"}"#).contains(#""s":"ok""#))
    for (index, attempt) in try Self.attempts().enumerated() {
      let (path, json) = attempt
      let put = #"{"p":"\#(path)","d":\#(json)"#
      let update = #"{"p":"/","d":{"\#(path.dropFirst())":\#(json)}}"#
      let requests = [
        ("p", put + "}"), ("p", put + #","h":""}"#), ("m", update), ("o", put + "}"),
        ("om", update),
      ]
      for (number, request) in requests.enumerated() {
        let text = try await answer(10 * index + number + 2, request.0, request.1)
        #expect(!text.contains(#""s":"ok""#), "\(request.0) \(path) \(json.prefix(80))")
      }
    }
    client.close()
    _ = try await client.closed()
    #expect(try await contents(server) == before)
    await server.stop()
  }
}
