import RealtimeCore
import RealtimeHub
import Testing

/// What the simulation found, made small.
@Suite("A batch that fails after its client has gone")
struct FailedBatchTests {
  @Test("A write that is sent again on another connection is not answered as if it were stored")
  func repeatedWrite() throws {
    var hub = TreeHub(stored: StoredTree(root: .empty))
    let key = WriteKey(client: "c", number: 1)
    let write = WriteRequest(path: "a", operation: .set(.integer(1)), key: key)
    hub.open(PeerID(1))
    _ = hub.handle(.request(id: 1, .write(write)), from: PeerID(1), at: 0)
    #expect(hub.takeBatch() != nil)
    _ = hub.close(PeerID(1), at: 1)
    hub.open(PeerID(2))
    var outputs = hub.handle(.request(id: 2, .write(write)), from: PeerID(2), at: 2)
    outputs += hub.batchFailed(StoreError(.full, "the disk is full"), at: 3)
    outputs += hub.handle(.request(id: 3, .write(write)), from: PeerID(2), at: 4)
    while hub.takeBatch() != nil { outputs += hub.batchCommitted() }
    let answers = try outputs.compactMap { output -> ServerMessage? in
      guard case .send(PeerID(2), let bytes) = output else { return nil }
      return try ServerMessage(decoding: bytes)
    }
    let isStored = !hub.snapshot.isEmpty
    #expect(!answers.isEmpty)
    for case .response(_, let response) in answers {
      #expect((response.status == .ok) == isStored, "\(response.status)")
    }
  }
}
