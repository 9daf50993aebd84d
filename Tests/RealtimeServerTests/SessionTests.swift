import Foundation
import NIOCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("A session with a server", .timeLimit(.minutes(1)))
struct SessionTests {
  @Test("starts with a greeting that contains the time, the requested host and the session ID")
  func hello() async throws {
    let server = try await DatabaseServer.startForTest()
    let client = try await server.connect()
    let text = try await client.next()
    let start =
      "{\"t\":\"c\",\"d\":{\"t\":\"h\",\"d\":{\"ts\":1700000000000,\"v\":\"5\","
      + "\"h\":\"127.0.0.1:\(try #require(server.port))\",\"s\":\""
    #expect(text.hasPrefix(start))
    let rest = text.dropFirst(start.count)
    #expect(rest.prefix(32).allSatisfy { $0.isLetter || $0.isNumber })
    #expect(rest.dropFirst(32) == "\",\"x\":[\"once\"]}}}")
    await server.stop()
  }

  @Test("has a different ID each time")
  func names() async throws {
    let server = try await DatabaseServer.startForTest()
    let first = try await server.connect().next()
    let second = try await server.connect().next()
    #expect(first != second)
    await server.stop()
  }

  @Test(
    "carries long values both ways, over TCP and a Unix socket",
    arguments: [true, false]
  )
  func longValue(isUnix: Bool) async throws {
    let directory = try TemporaryDirectory()
    let server = try await DatabaseServer.startForTest(
      isUnix ? .init(socketPath: directory.file("s")) : .init(port: 0, rules: .open)
    )
    let client = try await server.connectAndGreet()
    let value = String(repeating: "é😀x", count: 15_000)
    client.send(#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/v","d":"\#(value)"}}}"#)
    #expect(try await client.next() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#)
    client.send(#"{"t":"d","d":{"r":2,"a":"g","b":{"p":"/v","q":{}}}}"#)
    #expect(try await client.next() == #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":"\#(value)"}}}"#)
    await server.stop()
  }

  @Test("shows each client the other's writes")
  func twoClients() async throws {
    let server = try await DatabaseServer.startForTest()
    let clients = [try await server.connectAndGreet(), try await server.connectAndGreet()]
    for client in clients {
      client.send(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}"#)
      while try await !client.next().contains(#""r":1"#) {}
    }
    for (writer, reader) in [(0, 1), (1, 0)] {
      clients[writer].send(#"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/a/w\#(writer)","d":1}}}"#)
      let push = #"{"t":"d","d":{"a":"d","b":{"p":"a/w\#(writer)","d":1}}}"#
      #expect(try await clients[reader].next() == push)
      #expect(try await clients[writer].next() == push)
      #expect(try await clients[writer].next().contains(#""r":2,"b":{"s":"ok""#))
    }
    await server.stop()
  }

  @Test("replaces the older session it names, whose onDisconnect writes are applied at once")
  func lastSession() async throws {
    let server = try await DatabaseServer.startForTest()
    let old = try await server.connect()
    let hello = try await old.next()
    let start = try #require(hello.range(of: #""s":""#))
    let name = String(hello[start.upperBound...].prefix(32))
    old.send(#"{"t":"d","d":{"r":1,"a":"o","b":{"p":"/gone","d":true}}}"#)
    #expect(try await old.next().contains(#""s":"ok""#))
    let new = try await server.connect(lastSession: name)
    #expect(try await new.next().contains(#""t":"h""#))
    #expect(try await old.closed().kind == .closedByPeer(code: 1_000))
    new.send(#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/gone","q":{}}}}"#)
    #expect(try await new.next() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":true}}}"#)
    await server.stop()
  }

  @Test("answers a malformed request and continues")
  func undecodable() async throws {
    let server = try await DatabaseServer.startForTest()
    let client = try await server.connectAndGreet()
    client.send(#"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/a"}}}"#)
    let answer = try await client.next()
    #expect(answer.contains(#""r":5,"b":{"s":"#) && !answer.contains(#""s":"ok""#))
    let deep = String(repeating: #"{"a":"#, count: 65) + "1" + String(repeating: "}", count: 65)
    for (number, data) in [#""\ud83d""#, deep, "1e400"].enumerated() {
      client.send(#"{"t":"d","d":{"r":\#(number + 6),"a":"p","b":{"p":"/a","d":\#(data)}}}"#)
      #expect(try await client.next().contains(#""r":\#(number + 6),"b":{"s":"invalid_data""#))
    }
    client.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
    #expect(try await client.next() == #"{"t":"c","d":{"t":"o","d":{}}}"#)
    await server.stop()
  }

  @Test(
    "ends when a message cannot be parsed at all",
    arguments: ["garbage", "{}", "[[[[", "\u{0}"]
  )
  func garbage(text: String) async throws {
    let server = try await DatabaseServer.startForTest()
    let client = try await server.connectAndGreet()
    client.send(text)
    #expect(try await client.closed().kind == .closedByPeer(code: 1_002))
    let other = try await server.connectAndGreet()
    other.close()
    await server.stop()
  }

  @Test("is refused with 404 for another database and works without a name")
  func namespace() async throws {
    let server = try await DatabaseServer.startForTest()
    let port = try #require(server.port)
    let other = ConnectionTarget(host: "127.0.0.1", port: port, namespace: "other")
    #expect(try await ClientProbe(other).closed().kind == .refused(status: 404))
    let unnamed = try await ClientProbe(ConnectionTarget(host: "127.0.0.1", port: port))
    #expect(try await unnamed.next().contains(#""t":"h""#))
    await server.stop()
  }

  @Test("is refused for web pages and beyond the connection limit")
  func refusals() async throws {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.limits.connections = 1
    let server = try await DatabaseServer.startForTest(options)
    let page = RawPeer.upgradeRequest(lines: ["Host: localhost", "Origin: http://localhost"])
    #expect(try await RawPeer.exchange(server.address, page).hasPrefix("HTTP/1.1 403 "))
    let client = try await server.connectAndGreet()
    // An idle client would have to give way.
    client.send(#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/a","q":{}}}}"#)
    #expect(try await client.next().contains(#""s":"ok""#))
    #expect(try await server.connect().closed().kind == .refused(status: 503))
    await server.stop()
  }
}

@Suite("A run of broadcasts")
struct BroadcastRunTests {
  private let peers = (1...5).map { PeerID($0) }

  private func broadcast(_ text: String, to peers: [PeerID]? = nil) -> HubOutput {
    .broadcast(peers ?? self.peers, HubMessage(bytes: Array(text.utf8), kind: .change))
  }

  private func send(_ peer: Int) -> HubOutput {
    .send(PeerID(peer), HubMessage(bytes: [0], kind: .other))
  }

  @Test("extends to the last broadcast to the same peers, across messages to single peers")
  func reach() throws {
    let outputs = [
      send(1), broadcast("a"), send(9), broadcast("b"), send(2), send(2), broadcast("c"), send(3),
      broadcast("d", to: [PeerID(1)]), broadcast("e"),
    ]
    #expect(BroadcastRun(in: outputs, at: 0) == nil)
    let run = try #require(BroadcastRun(in: outputs, at: 1))
    #expect(run.range == 1..<7)
    #expect(run.messages.map(\.bytes) == ["a", "b", "c"].map { Array($0.utf8) })
    #expect(run.apart == [PeerID(2)])
    #expect(BroadcastRun(in: outputs, at: 9)?.range == 9..<10)
  }

  @Test("ends before other outputs, too many excluded peers and more than 16 KiB")
  func ends() throws {
    let long = String(repeating: "x", count: 6_000)
    let gone = HubOutput.disconnect(PeerID(1), .storageFailed(""))
    #expect(BroadcastRun(in: [broadcast("a"), gone, broadcast("b")], at: 0)?.range == 0..<1)
    let run = BroadcastRun(in: [broadcast(long), broadcast(long), broadcast(long)], at: 0)
    #expect(run?.range == 0..<2)
    #expect(BroadcastRun(in: [broadcast(long + long + long)], at: 0) == nil)
    let many = (1...20).map { PeerID($0) }
    let outputs = (1...20).flatMap { [send($0), broadcast("a", to: many)] }
    let crowd = try #require(BroadcastRun(in: outputs, at: 1))
    #expect(crowd.range == 1..<18)
    #expect(crowd.apart == (2...9).map { PeerID($0) })
  }
}
