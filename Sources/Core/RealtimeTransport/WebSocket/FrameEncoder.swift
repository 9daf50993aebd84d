internal import NIOCore
internal import NIOWebSocket

/// Writes WebSocket frames into a buffer.
enum FrameEncoder {
  /// Appends one whole frame.
  ///
  /// - Parameters:
  ///   - opcode: The kind of frame.
  ///   - payload: What the frame carries, at most 125 bytes for a control frame.
  ///   - mask: The key that a client must mask with, or nil for a server.
  ///   - buffer: Where the frame goes.
  static func append(
    _ opcode: WebSocketOpcode,
    _ payload: [UInt8],
    mask: UInt32?,
    to buffer: inout ByteBuffer
  ) {
    buffer.reserveCapacity(minimumWritableBytes: payload.count + 14)
    buffer.writeInteger(0x80 | UInt8(webSocketOpcode: opcode))
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    switch payload.count {
    case 0...125: buffer.writeInteger(maskBit | UInt8(payload.count))
    case 126...0xFFFF:
      buffer.writeInteger(maskBit | 126)
      buffer.writeInteger(UInt16(payload.count))
    default:
      buffer.writeInteger(maskBit | 127)
      buffer.writeInteger(UInt64(payload.count))
    }
    guard let mask else {
      buffer.writeBytes(payload)
      return
    }
    buffer.writeInteger(mask)
    var masked = payload
    masked.applyMask(mask)
    buffer.writeBytes(masked)
  }
}
