internal import NIOWebSocket
internal import RealtimeCore

/// Reassembles fragmented WebSocket frames and drops binary ones.
struct FragmentBuffer {
  var byteLimit: Int
  private var opcode: WebSocketOpcode?
  private var bytes: [UInt8] = []

  init(byteLimit: Int) {
    self.byteLimit = byteLimit
  }

  /// Whether a fragmented frame is incomplete.
  var isAssembling: Bool { opcode != nil }

  /// The number of bytes of the incomplete frame that have arrived.
  var assembledBytes: Int { bytes.count }

  /// Abandons an incomplete frame and returns its bytes; the caller skips its remaining fragments.
  mutating func giveUp() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// Skips a fragment; returns whether it belongs to a text frame, and whether it is the last one.
  mutating func skip(_ opcode: WebSocketOpcode, isFinal: Bool) -> (isText: Bool, isEnd: Bool) {
    let kind = self.opcode ?? opcode
    self.opcode = isFinal ? nil : kind
    return (kind == .text, isFinal)
  }

  /// Whether a frame may come next: a continuation if a frame is incomplete, any other if none is.
  func isInPlace(_ opcode: WebSocketOpcode) -> Bool { (opcode == .continuation) == isAssembling }

  /// Receives a text, binary or continuation frame; returns a text frame that this completes.
  mutating func receive(
    _ opcode: WebSocketOpcode,
    payload: [UInt8],
    isFinal: Bool
  ) throws(MessageError) -> [UInt8]? {
    if !isAssembling, isFinal { return opcode == .text ? payload : nil }
    let kind = self.opcode ?? opcode
    if kind == .text {
      guard bytes.count + payload.count <= byteLimit else {
        throw MessageError("a message is longer than \(byteLimit) bytes")
      }
      bytes.append(contentsOf: payload)
    }
    guard isFinal else {
      self.opcode = kind
      return nil
    }
    defer {
      self.opcode = nil
      bytes = []
    }
    return kind == .text ? bytes : nil
  }
}

/// A message that is being skipped because it is too long.
struct ExcessMessage {
  /// The number of text frames still to come, including one that has begun.
  var framesToCome: Int
  let reason: String
  var skimmer = RequestSkimmer()
  var hasProgressed = false

  mutating func pass(_ bytes: [UInt8]) {
    skimmer.scan(bytes)
    hasProgressed = true
  }
}
