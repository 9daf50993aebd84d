import NIOCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A server that receives garbage", .timeLimit(.minutes(1)), .cleansUp)
struct RobustnessTests {
  private static let messages = [
    #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","q":{"l":2,"vf":"r","i":"x"},"t":1,"h":""}}}"#,
    #"{"t":"d","d":{"r":2,"a":"p","b":{"p":"/a/b","d":{"c":{".sv":"timestamp"},".priority":1}}}}"#,
    #"{"t":"d","d":{"r":3,"a":"m","b":{"p":"/a","d":{"b/c":null,"d":[1,2]},"i":"client:1"}}}"#,
    #"{"t":"d","d":{"r":4,"a":"g","b":{"p":"/a","q":{"sp":1,"ep":"z","i":".value"}}}}"#,
    #"{"t":"d","d":{"r":5,"a":"om","b":{"p":"/a","d":{"e":true}}}}"#,
  ]

  private func expectAnswers(_ server: DatabaseServer) async throws {
    let client = try await server.connectAndGreet()
    client.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
    #expect(try await client.next() == #"{"t":"c","d":{"t":"o","d":{}}}"#)
    client.close()
    _ = try await client.closed()
  }

  @Test("keeps running when messages are damaged", arguments: [1, 2, 3] as [UInt64])
  func damagedMessages(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let server = try await DatabaseServer.startForTest()
    for _ in 0..<20 {
      let client = try await server.connectAndGreet()
      for _ in 0..<20 {
        var bytes = Array((Self.messages.randomElement(using: &random) ?? "").utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
          let index = bytes.indices.randomElement(using: &random) ?? 0
          switch Int.random(in: 0..<3, using: &random) {
          case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
          case 1: bytes.remove(at: index)
          default: bytes.insert(bytes[index], at: index)
          }
        }
        client.send(bytes)
      }
      client.close()
      _ = try await client.closed()
    }
    try await expectAnswers(server)
  }

  @Test("keeps running when frames are random bytes", arguments: [4, 5] as [UInt64])
  func randomFrames(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let server = try await DatabaseServer.startForTest()
    for _ in 0..<40 {
      let bytes = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
      try await RawPeer.send(server.address, RawPeer.upgradeRequest(), then: bytes)
    }
    try await expectAnswers(server)
  }
}
