internal import RealtimeCore

extension TreeHub {
  /// Queues a message, encoded already, behind everything that has been applied.
  mutating func append(_ bytes: [UInt8], to peer: PeerID, _ fallback: Outbox.Fallback) {
    append(.send(peer, bytes), to: peer, fallback)
  }

  /// Queues a message behind everything that has been applied.
  mutating func append(_ message: ServerMessage, to peer: PeerID, _ fallback: Outbox.Fallback) {
    append(output(message, to: peer), to: peer, fallback)
  }

  /// Queues an output behind everything that has been applied.
  mutating func append(
    _ output: HubOutput,
    to peer: PeerID,
    _ fallback: Outbox.Fallback
  ) {
    outbox.append(
      Outbox.Entry(step: appliedStep, peer: peer, output: output, fallback: fallback)
    )
  }

  /// A message in the form that a peer takes.
  func output(_ message: ServerMessage, to peer: PeerID) -> HubOutput {
    peers[peer]?.isInternal == true ? .deliver(peer, message) : .send(peer, message.encoded())
  }

  /// Queues a push to everyone who listens.
  mutating func append(_ push: ListenRegistry.Push) {
    if push.peers.count == 1 { return append(push.bytes, to: push.peers[0], .drop) }
    let output = HubOutput.broadcast(push.peers, push.bytes)
    outbox.append(Outbox.Entry(step: appliedStep, peer: nil, output: output, fallback: .drop))
  }

  /// Why a message with data is too long to be sent, or nil; what lives in the server sees to it.
  func refusal(ofLength output: HubOutput) -> Refusal? {
    guard case .send(_, let bytes) = output, bytes.count > limits.responseBytes else { return nil }
    return .tooLong(limits.responseBytes)
  }

  /// Queues the answer to a request.
  mutating func answer(
    _ origin: RequestOrigin,
    _ response: ServerMessage.Response,
    _ fallback: Outbox.Fallback
  ) {
    append(.response(id: origin.request, response), to: origin.peer, fallback)
  }

  /// Queues an answer that shows no data.
  mutating func answer(_ origin: RequestOrigin, _ status: StatusCode) {
    answer(origin, ServerMessage.Response(status), .keep)
  }

  /// Takes what depends on durable data only.
  mutating func flush() -> [HubOutput] {
    let released = outbox.release(upTo: durableStep)
    var outputs: [HubOutput] = []
    outputs.reserveCapacity(released.count)
    for entry in released {
      if let peer = entry.peer, !peers.keys.contains(peer) { continue }
      outputs.append(entry.output)
    }
    return outputs
  }
}
