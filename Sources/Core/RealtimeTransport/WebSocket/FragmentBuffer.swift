internal import NIOWebSocket
internal import RealtimeCore

/// Puts WebSocket frames together that are fragments of one, and drops binary ones.
struct FragmentBuffer {
  /// The most bytes that a text frame may have.
  var byteLimit: Int
  private var opcode: WebSocketOpcode?
  private var bytes: [UInt8] = []

  init(byteLimit: Int) {
    self.byteLimit = byteLimit
  }

  /// Whether the last fragment is still to come.
  var isAssembling: Bool { opcode != nil }

  /// How many bytes have come of it.
  var assembledBytes: Int { bytes.count }

  /// Gives up what has come of a frame; its fragments are skipped from now on.
  mutating func giveUp() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// Takes a frame that is skipped, and tells whether it is one of text, and the last fragment of it.
  mutating func skip(_ opcode: WebSocketOpcode, isFinal: Bool) -> (isText: Bool, isEnd: Bool) {
    let kind = self.opcode ?? opcode
    self.opcode = isFinal ? nil : kind
    return (kind == .text, isFinal)
  }

  /// Whether a frame may follow what has come: only a continuation continues what has begun.
  func isInPlace(_ opcode: WebSocketOpcode) -> Bool { (opcode == .continuation) == isAssembling }

  /// Takes a text, binary or continuation frame that is in place; the result is a whole text frame,
  /// if there is one.
  mutating func receive(
    _ opcode: WebSocketOpcode,
    _ payload: [UInt8],
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
