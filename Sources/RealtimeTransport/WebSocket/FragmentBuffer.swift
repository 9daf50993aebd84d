internal import NIOWebSocket
internal import RealtimeProtocol

/// Puts WebSocket frames together that are fragments of one, and drops binary ones.
struct FragmentBuffer {
  private let byteLimit: Int
  private var opcode: WebSocketOpcode?
  private var bytes: [UInt8] = []

  init(byteLimit: Int) {
    self.byteLimit = byteLimit
  }

  /// Whether the last fragment is still to come.
  var isAssembling: Bool { opcode != nil }

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
