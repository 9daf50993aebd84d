package import NIOCore
internal import NIOWebSocket
internal import RealtimeProtocol

/// A message of a server as it goes out on the wire: encoded once, shared by all who get it.
package struct EncodedMessage: Sendable {
  let frames: ByteBuffer

  /// Cuts a message into frames and encodes them.
  ///
  /// - Complexity: O(bytes)
  package init(_ message: [UInt8], allocator: ByteBufferAllocator = ByteBufferAllocator()) {
    var buffer = allocator.buffer(capacity: message.count + 14)
    for frame in FrameAssembler.frames(of: message) {
      FrameEncoder.append(.text, frame, mask: nil, to: &buffer)
    }
    frames = buffer
  }

  /// The length on the wire, in bytes.
  package var byteCount: Int { frames.readableBytes }
}
