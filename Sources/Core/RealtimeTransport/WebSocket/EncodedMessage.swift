package import NIOCore
internal import NIOWebSocket
internal import RealtimeCore

/// A message of a server as it goes out on the wire: encoded once, shared by all who get it.
package struct EncodedMessage: Sendable {
  /// How long a piece is at most, unless a frame is longer.
  private static let pieceBytes = 256 * 1_024

  /// The frames, or the first of them.
  let frames: ByteBuffer
  /// The others in pieces, each of which is given up as soon as it has been written.
  let rest: [ByteBuffer]

  /// Cuts a message into frames and encodes them.
  ///
  /// - Complexity: O(bytes)
  package init(_ message: [UInt8], allocator: ByteBufferAllocator = ByteBufferAllocator()) {
    var pieces: [ByteBuffer] = []
    var left = message.count
    var buffer = allocator.buffer(capacity: min(left, Self.pieceBytes) + 14)
    for frame in FrameAssembler.frames(of: message) {
      if buffer.readableBytes > 0, buffer.readableBytes + frame.count > Self.pieceBytes {
        pieces.append(buffer)
        buffer = allocator.buffer(capacity: min(left, Self.pieceBytes) + 14)
      }
      FrameEncoder.append(.text, frame, mask: nil, to: &buffer)
      left -= min(left, frame.count)
    }
    frames = pieces.first ?? buffer
    rest = pieces.isEmpty ? [] : pieces.dropFirst() + [buffer]
  }

  /// The length on the wire, in bytes.
  package var byteCount: Int { rest.reduce(frames.readableBytes) { $0 + $1.readableBytes } }
}
