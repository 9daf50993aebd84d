import Testing

@testable import RealtimeServer

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
