import RealtimeTransport
import Testing
import TransportTestSupport

@testable import RealtimeServer

/// Clients that only occupy connections.
@Suite("Connections that do nothing", .onEitherThread, .timeLimit(.minutes(2)))
struct IdleConnectionAttackTests {
  private func start(
    _ connections: Int,
    rules: DatabaseServer.Rules = .open
  ) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(port: 0, rules: rules)
    options.limits.connections = connections
    options.credentialVerifier = NamedVerifier()
    options.connectionThreads = ConnectionThreads.current
    return try await .start(options)
  }

  private let listen = #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#

  @Test("do not keep anyone out, be they silent, half a request, or between two")
  func silent() async throws {
    let server = try await start(2)
    var idle: [HTTPProbe] = []
    for number in 0..<300 {
      let probe = try await HTTPProbe(server.address)
      switch number % 3 {
      case 0: break
      case 1: probe.send("PUT /a.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n1")
      default: #expect(try await probe.request("GET", "/a.json").status == 200)
      }
      idle.append(probe)
    }
    let client = try await server.connectAndGreet()
    client.send(listen)
    #expect(try await client.next().contains(#""s":"ok""#))
    let http = try await HTTPProbe(server.address)
    #expect(try await http.request("GET", "/a.json").status == 200)
    withExtendedLifetime(idle) {}
    await server.stop()
  }

  @Test(
    "do not keep anyone out as WebSockets that never ask for anything",
    arguments: [true, false]
  )
  func sockets(isOpen: Bool) async throws {
    let closed = DatabaseServer.Rules.source(#"{"rules":{".read":"auth != null"}}"#)
    let server = try await start(20, rules: isOpen ? .open : closed)
    let user = try await server.connectAndGreet()
    user.send(#"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"ann"}}}"#)
    #expect(try await user.next().contains(#""s":"ok""#))
    var idle: [ClientProbe] = []
    for _ in 0..<60 { idle.append(try await server.connectAndGreet()) }
    let newcomer = try await server.connectAndGreet()
    newcomer.send(#"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"bob"}}}"#)
    #expect(try await newcomer.next().contains(#""s":"ok""#))
    #expect(try await idle[0].closed().kind == .closedByPeer(code: 1_013))
    // A client that has signed in stays.
    user.send(listen)
    #expect(try await user.next().contains(#""s":"ok""#))
    await server.stop()
  }

  @Test("are all that gives way: who is connected for something stays, and others are refused")
  func busy() async throws {
    let server = try await start(3)
    var busy: [ClientProbe] = []
    for _ in 0..<3 {
      let client = try await server.connectAndGreet()
      client.send(listen)
      #expect(try await client.next().contains(#""s":"ok""#))
      busy.append(client)
    }
    #expect(try await server.connect().closed().kind == .refused(status: 503))
    for client in busy {
      client.send(#"{"t":"d","d":{"r":2,"a":"g","b":{"p":"/a","q":{}}}}"#)
      #expect(try await client.next().contains(#""r":2"#))
    }
    await server.stop()
  }
}
