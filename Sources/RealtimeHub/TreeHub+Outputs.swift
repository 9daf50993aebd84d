internal import RealtimeProtocol

extension TreeHub {
  /// Queues a message behind everything that has been applied.
  mutating func append(_ bytes: [UInt8], to peer: PeerID, _ fallback: Outbox.Fallback) {
    outbox.append(
      Outbox.Entry(step: appliedStep, peer: peer, bytes: bytes, fallback: fallback)
    )
  }

  /// Queues the answer to a request.
  mutating func answer(
    _ origin: RequestOrigin,
    _ response: ServerMessage.Response,
    _ fallback: Outbox.Fallback
  ) {
    let message = ServerMessage.response(id: origin.request, response)
    append(message.encoded(), to: origin.peer, fallback)
  }

  /// Queues an answer that shows no data.
  mutating func answer(_ origin: RequestOrigin, _ status: StatusCode) {
    answer(origin, ServerMessage.Response(status), .keep)
  }

  /// Takes what depends on durable data only.
  mutating func flush() -> [HubOutput] {
    var outputs: [HubOutput] = []
    for entry in outbox.release(upTo: durableStep) where peers[entry.peer] != nil {
      outputs.append(.send(entry.peer, entry.bytes))
    }
    return outputs
  }
}
