internal import NIOCore
internal import NIOWebSocket
internal import RealtimeCore

/// Decodes WebSocket frames.
///
/// State: `bytes` is the input since the last complete frame.
struct FrameDecoder {
  struct Frame {
    let opcode: WebSocketOpcode
    /// Whether no fragment follows.
    let isFinal: Bool
    let payload: [UInt8]
  }

  /// Why the input is invalid.
  enum Violation: Error {
    case tooLong
    /// A frame has reserved flags, lacks a required mask, or has one that is not allowed.
    case wrongFlags
    /// A control frame is fragmented or too long.
    case wrongControl
  }

  /// The header of a frame, with its own length without the mask.
  private typealias Head = (
    opcode: WebSocketOpcode, isFinal: Bool, length: Int, payloadLength: Int
  )

  /// The longest payload of a frame.
  private let byteLimit: Int
  /// Whether frames must be masked; otherwise they must not.
  private let isMasked: Bool
  private var bytes = ByteBuffer()

  init(byteLimit: Int, isMasked: Bool) {
    self.byteLimit = byteLimit
    self.isMasked = isMasked
  }

  /// The memory of the buffered input, in bytes.
  var capacity: Int { bytes.capacity }

  var hasBytes: Bool { bytes.readableBytes > 0 }

  mutating func append(_ read: ByteBuffer) {
    if bytes.readableBytes == 0 {
      bytes = read
    } else {
      // The buffer of a busy stream is never read to its end and would otherwise keep growing.
      bytes.discardReadBytes()
      bytes.writeImmutableBuffer(read)
    }
  }

  /// Decodes the next frame, or returns nil if it is incomplete.
  ///
  /// - Throws: ``Violation``, as soon as the header shows one.
  mutating func next() throws(Violation) -> Frame? {
    guard let head = try head() else { return nil }
    let maskLength = isMasked ? 4 : 0
    guard bytes.readableBytes >= head.length + maskLength + head.payloadLength else { return nil }
    bytes.moveReaderIndex(forwardBy: head.length)
    let key = isMasked ? bytes.readInteger(as: UInt32.self) : nil
    var payload = bytes.readBytes(length: head.payloadLength) ?? []
    if let key { payload.applyMask(key) }
    // Releasing the buffer lets the socket reuse it for its next read.
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
    return (opcode, isFinal, length, Int(payloadLength))
  }
}

enum FrameEncoder {
  /// Appends one complete frame, masked with a client's key; a control frame has at most 125 bytes.
  static func append(
    _ opcode: WebSocketOpcode,
    payload: [UInt8],
    mask: UInt32?,
    to buffer: inout ByteBuffer
  ) {
    buffer.reserveCapacity(minimumWritableBytes: payload.count + 14)
    let flags = 0x8000 | UInt16(UInt8(webSocketOpcode: opcode)) << 8 | (mask == nil ? 0 : 0x80)
    switch payload.count {
    case 0...125: buffer.writeInteger(flags | UInt16(payload.count))
    case 126...0xFFFF: buffer.writeInteger(UInt32(flags | 126) << 16 | UInt32(payload.count))
    default:
      buffer.writeInteger(flags | 127)
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

extension [UInt8] {
  /// Masks or unmasks a payload with a key in network byte order, eight bytes at a time.
  ///
  /// - Complexity: O(bytes)
  mutating func applyMask(_ key: UInt32) {
    // The key, repeated, in network byte order.
    let word = (UInt64(key) << 32 | UInt64(key)).bigEndian
    withUnsafeMutableBytes { bytes in
      var index = 0
      // Safety: the condition of the loop keeps all eight bytes within the buffer.
      while index + 8 <= bytes.count {
        let masked = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ word
        bytes.storeBytes(of: masked, toByteOffset: index, as: UInt64.self)
        index += 8
      }
      while index < bytes.count {
        bytes[index] ^= UInt8(truncatingIfNeeded: key >> (24 - 8 * UInt32(index & 3)))
        index += 1
      }
    }
  }
}

/// A server's message, or several, in wire format, encoded once and shared by all recipients.
package struct EncodedMessage: Sendable {
  /// The longest piece, in bytes, unless a single frame is longer.
  private static let pieceBytes = 256 * 1_024

  /// The frames, or the first of them.
  let frames: ByteBuffer
  /// The remaining pieces, each of which is released as soon as it has been written.
  let rest: [ByteBuffer]
  /// How many messages the frames carry.
  package let count: Int

  /// Splits a message into frames and encodes them.
  ///
  /// - Complexity: O(bytes)
  package init(_ message: [UInt8]) {
    let allocator = ByteBufferAllocator()
    count = 1
    guard message.count > Limits.segmentUnits else {
      var frame = allocator.buffer(capacity: message.count + 14)
      FrameEncoder.append(.text, payload: message, mask: nil, to: &frame)
      frames = frame
      rest = []
      return
    }
    var pieces: [ByteBuffer] = []
    var left = message.count
    var buffer = allocator.buffer(capacity: min(left, Self.pieceBytes) + 14)
    for frame in FrameAssembler.frames(of: message) {
      if buffer.readableBytes > 0, buffer.readableBytes + frame.count > Self.pieceBytes {
        pieces.append(buffer)
        buffer = allocator.buffer(capacity: min(left, Self.pieceBytes) + 14)
      }
      FrameEncoder.append(.text, payload: frame, mask: nil, to: &buffer)
      left -= min(left, frame.count)
    }
    frames = pieces.first ?? buffer
    rest = pieces.isEmpty ? [] : pieces.dropFirst() + [buffer]
  }

  /// Encodes several messages that are sent together.
  ///
  /// - Complexity: O(bytes)
  package init(joining messages: [[UInt8]]) {
    count = messages.count
    let room = messages.reduce(0) { $0 + $1.count + 14 }
    var buffer = ByteBufferAllocator().buffer(capacity: room)
    for message in messages {
      for frame in FrameAssembler.frames(of: message) {
        FrameEncoder.append(.text, payload: frame, mask: nil, to: &buffer)
      }
    }
    frames = buffer
    rest = []
  }

  /// Calls a closure with the first bytes of the first message, at most so many.
  ///
  /// - Complexity: O(1)
  package func withBeginning<Result>(
    upTo count: Int,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    frames.withUnsafeReadableBytes { bytes in
      var start = Self.payload(of: bytes[...])
      // A long message comes in segments, the number of which stands before them.
      if start.allSatisfy({ (0x30...0x39).contains($0) }), start.endIndex < bytes.endIndex {
        start = Self.payload(of: bytes[start.endIndex...])
      }
      return body(UnsafeRawBufferPointer(rebasing: start.prefix(count)))
    }
  }

  /// The payload of the first of some frames, as far as it is there.
  private static func payload(
    of frames: Slice<UnsafeRawBufferPointer>
  ) -> Slice<UnsafeRawBufferPointer> {
    guard frames.count >= 2 else { return frames.suffix(0) }
    let short = Int(frames[frames.startIndex + 1])
    let extra = short == 126 ? 2 : short == 127 ? 8 : 0
    let length = frames.dropFirst(2).prefix(extra).reduce(0) { $0 << 8 | Int($1) }
    return frames.dropFirst(2 + extra).prefix(extra == 0 ? short : length)
  }

  /// The messages that the frames carry.
  ///
  /// - Complexity: O(bytes)
  package var texts: [[UInt8]] {
    var decoder = FrameDecoder(byteLimit: .max, isMasked: false)
    for piece in [frames] + rest { decoder.append(piece) }
    var assembler = FrameAssembler(segmentLimit: .max, byteLimit: .max)
    var texts: [[UInt8]] = []
    while let frame = try? decoder.next() {
      if let text = try? assembler.receive(frame.payload) { texts.append(text) }
    }
    return texts
  }

  /// Whether both are the same bytes in memory, so that one can be sent for the other.
  ///
  /// - Complexity: O(1)
  package func isSame(as other: EncodedMessage) -> Bool {
    count == other.count && rest.isEmpty && other.rest.isEmpty && frames.isSame(as: other.frames)
  }

  /// The length on the wire, in bytes.
  package var byteCount: Int { rest.reduce(frames.readableBytes) { $0 + $1.readableBytes } }
}
