internal import NIOCore
internal import NIOWebSocket

/// Takes WebSocket frames out of what a socket reads.
///
/// State: `bytes` is what has been read since the last whole frame.
struct FrameDecoder {
  /// A whole frame.
  struct Frame {
    let opcode: WebSocketOpcode
    /// Whether no fragment follows.
    let isFinal: Bool
    /// What it carries, without the mask.
    let payload: [UInt8]
  }

  /// Why nothing more can be read.
  enum Violation: Error {
    /// A frame is longer than allowed.
    case tooLong
    /// A frame has flags that nobody agreed on, or a mask where none may be, or none.
    case wrongFlags
    /// A control frame is in fragments, or longer than one may be.
    case wrongControl
  }

  /// What precedes the payload of a frame.
  private struct Head {
    let opcode: WebSocketOpcode
    let isFinal: Bool
    /// How long it is itself, without the mask.
    let length: Int
    let payloadLength: Int
  }

  private let byteLimit: Int
  private let isMasked: Bool
  private var bytes = ByteBuffer()

  /// Makes a decoder.
  ///
  /// - Parameters:
  ///   - byteLimit: How long the payload of a frame may be.
  ///   - isMasked: Whether frames must be masked; otherwise they must not.
  init(byteLimit: Int, isMasked: Bool) {
    self.byteLimit = byteLimit
    self.isMasked = isMasked
  }

  /// How much memory what has been read takes, in bytes.
  var capacity: Int { bytes.capacity }

  /// Whether something has been read that no frame has been made of.
  var hasBytes: Bool { bytes.readableBytes > 0 }

  /// Takes what has been read.
  mutating func append(_ read: ByteBuffer) {
    if bytes.readableBytes == 0 {
      bytes = read
    } else {
      // A buffer keeps what has been read from it, and a busy stream may never be read to its end.
      bytes.discardReadBytes()
      bytes.writeImmutableBuffer(read)
    }
  }

  /// The next frame, or nil while some of it is still to come.
  ///
  /// - Throws: ``Violation`` as soon as a frame shows one.
  mutating func next() throws(Violation) -> Frame? {
    guard let head = try head() else { return nil }
    let maskLength = isMasked ? 4 : 0
    guard bytes.readableBytes >= head.length + maskLength + head.payloadLength else { return nil }
    bytes.moveReaderIndex(forwardBy: head.length)
    let key = isMasked ? bytes.readInteger(as: UInt32.self) : nil
    var payload = bytes.readBytes(length: head.payloadLength) ?? []
    if let key { payload.applyMask(key) }
    // The buffer is the socket's again for its next read.
    if bytes.readableBytes == 0 { bytes = ByteBuffer() }
    return Frame(opcode: head.opcode, isFinal: head.isFinal, payload: payload)
  }

  private func head() throws(Violation) -> Head? {
    let start = bytes.readerIndex
    guard let flags = bytes.getInteger(at: start, as: UInt16.self),
      let opcode = WebSocketOpcode(encodedWebSocketOpcode: UInt8(flags >> 8 & 0xF))
    else { return nil }
    guard flags & 0x7000 == 0, (flags & 0x80 != 0) == isMasked else { throw .wrongFlags }
    let isFinal = flags & 0x8000 != 0
    let isControl = flags & 0x0800 != 0
    let length: Int
    let payloadLength: UInt64
    switch flags & 0x7F {
    case let short where short <= 125:
      length = 2
      payloadLength = UInt64(short)
    case _ where isControl: throw .wrongControl
    case 126:
      guard let long = bytes.getInteger(at: start + 2, as: UInt16.self) else { return nil }
      length = 4
      payloadLength = UInt64(long)
    default:
      guard let long = bytes.getInteger(at: start + 2, as: UInt64.self) else { return nil }
      length = 10
      payloadLength = long
    }
    guard isFinal || !isControl else { throw .wrongControl }
    guard payloadLength <= UInt64(byteLimit) else { throw .tooLong }
    return Head(
      opcode: opcode,
      isFinal: isFinal,
      length: length,
      payloadLength: Int(payloadLength)
    )
  }
}
