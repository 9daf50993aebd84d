import Logging
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

/// Clients that only occupy connections.
@Suite("Idle connections", .timeLimit(.minutes(2)), .cleansUp)
struct IdleConnectionAttackTests {
  private func start(
    _ connections: Int,
    rules: DatabaseServer.Rules = .open
  ) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(port: 0, rules: rules)
    options.limits.connections = connections
    options.credentialVerifier = NamedVerifier()
    return try await .start(options).endingWithTest()
  }

  /// A client at the port of a server that also has a socket.
  private func client(of server: DatabaseServer) async throws -> ClientProbe {
    let client = try await server.connect(to: "hearth")
    try await client.expect("\"t\":\"h\"")
    return client
  }

  private let listen = #"{"p":"/a","h":""}"#

  @Test("do not keep clients out, whether silent, mid-request or between requests")
  func silent() async throws {
    let server = try await start(2)
    var idle: [HTTPProbe] = []
    for number in 0..<300 {
      let probe = try await HTTPProbe(server.address)
      switch number % 3 {
      case 0: break
      case 1: probe.send("PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n1")
      default: try await probe.request("GET", "/a.json", gives: 200)
      }
      idle.append(probe)
    }
    let client = try await server.connectAndGreet()
    try await client.ask(9, "q", listen)
    let http = try await HTTPProbe(server.address)
    try await http.request("GET", "/a.json", gives: 200)
    withExtendedLifetime(idle) {}
  }

  @Test(
    "do not keep clients out as WebSockets that never request anything",
    arguments: [true, false]
  )
  func sockets(isOpen: Bool) async throws {
    let closed = DatabaseServer.Rules.source(#"{"rules":{".read":"auth != null"}}"#)
    let server = try await start(20, rules: isOpen ? .open : closed)
    let user = try await server.connectAndGreet()
    try await user.ask(1, "auth", #"{"cred":"ann"}"#)
    var idle: [ClientProbe] = []
    for _ in 0..<60 { idle.append(try await server.connectAndGreet()) }
    let newcomer = try await server.connectAndGreet()
    try await newcomer.ask(1, "auth", #"{"cred":"bob"}"#)
    #expect(try await idle[0].closed().kind == .closedByPeer(code: 1_013))
    // A client that has signed in stays.
    try await user.ask(9, "q", listen)
  }

  @Test("are limited per address, and the log says so once")
  func share() async throws {
    let lines = NIOLockedValueBox<[String]>([])
    let directory = try TemporaryDirectory()
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.socketPath = directory.file("s")
    options.limits.connectionsPerAddress = 4
    let logger = Logger.collecting(lines)
    let server = try await DatabaseServer.start(options, logger: logger).endingWithTest()
    var clients: [ClientProbe] = []
    for _ in 0..<4 { clients.append(try await client(of: server)) }
    for _ in 0..<3 {
      let probe = try await HTTPProbe(.loopback(port: server.port ?? 0))
      let answer = try await probe.rest()
      #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("\r\nRetry-After: 10\r\n"))
    }
    // However many are turned away at a time, each is told.
    var crowd: [HTTPProbe] = []
    for _ in 0..<150 {
      let address = ListenAddress.loopback(port: server.port ?? 0)
      let probe = try await HTTPProbe(address, isReading: false, staysOpen: true)
      probe.send(HTTPProbe.text("GET", "/a.json"))
      crowd.append(probe)
    }
    for probe in crowd {
      try await probe.setReading(true)
      #expect(try await probe.rest().hasPrefix("HTTP/1.1 503 "))
    }
    let local = try await HTTPProbe(.unix(path: directory.file("s")))
    try await local.request("GET", "/a.json", gives: 200)
    #expect(lines.withLockedValue { $0.count { $0.contains("127.0.0.1 has 4 connections") } } == 1)
  }

  @Test("leave room for the private socket, whatever else is connected")
  func reserve() async throws {
    let directory = try TemporaryDirectory()
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.socketPath = directory.file("s")
    options.limits.connections = 2
    let server = try await DatabaseServer.start(options).endingWithTest()
    var busy: [ClientProbe] = []
    for _ in 0..<2 {
      let client = try await client(of: server)
      try await client.ask(9, "q", listen)
      busy.append(client)
    }
    let stranger = try await HTTPProbe(.loopback(port: server.port ?? 0))
    try await stranger.request("GET", "/a.json", gives: 503)
    let user = try await HTTPProbe(.loopback(port: server.port ?? 0))
    let refused = try await user.request("POST", "/v1/accounts:signUp?key=any", "{}", gives: 503)
    let message = #""message":"UNAVAILABLE : the server has too many connections""#
    #expect(refused.body.contains(message), "clients read this form at the endpoints of accounts")
    let local = try await HTTPProbe(.unix(path: directory.file("s")))
    try await local.request("GET", "/a.json", gives: 200)
  }

  @Test("of anonymous accounts are closed first, the longest idle first, and other accounts stay")
  func guests() async throws {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.limits.connections = 3
    options.credentialVerifier = GuestVerifier()
    let server = try await DatabaseServer.start(options).endingWithTest()
    var clients: [ClientProbe] = []
    for name in ["ann", "guest1", "guest2"] {
      let client = try await server.connectAndGreet()
      try await client.ask(1, "auth", #"{"cred":"\#(name)"}"#)
      clients.append(client)
    }
    try await clients[1].ask(9, "q", listen)
    let newcomer = try await server.connectAndGreet()
    #expect(try await clients[2].closed().kind == .closedByPeer(code: 1_013))
    for client in [clients[0], clients[1], newcomer] {
      try await client.ask(2, "g", #"{"p":"/a","q":{}}"#)
    }
  }
}

/// A verifier that takes a credential as a user's name, and "guest…" as an anonymous account.
private struct GuestVerifier: CredentialVerifier {
  func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(RequestError) -> VerifiedCredential {
    let name = authentication.credential
    let provider = name.hasPrefix("guest") ? "anonymous" : "password"
    let auth = JSONValue.object(("uid", .string(name)), ("provider", .string(provider)))
    return VerifiedCredential(identity: .user(auth))
  }
}
