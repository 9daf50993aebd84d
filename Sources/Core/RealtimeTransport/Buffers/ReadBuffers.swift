internal import NIOCore

/// The sizes of the buffers that a connection is read into.
///
/// NIO keeps one buffer for each connection between two reads. That one stays small: while long
/// messages arrive, each read has a larger buffer of its own. Otherwise a connection would keep as
/// much as it has ever received at once, for as long as it is open.
struct ReadBuffers: RecvByteBufferAllocator {
  /// How often a connection is read before others get their turn; of more reads, NIO would keep a
  /// buffer each.
  static let readsPerTurn: UInt = 1
  /// The size of the buffer that is kept, in bytes; most messages fit in it.
  static let keptBytes = 512
  private static let maximumBytes = 64 * 1_024
  /// How many times as large the next buffer is after a full one.
  private static let growth = 4

  private var bytes = Self.keptBytes

  /// The size of the kept buffer, or nil for another one.
  func nextBufferSize() -> Int? { bytes > Self.keptBytes ? nil : bytes }

  func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: bytes) }

  /// Returns whether the next read needs another buffer than the kept one.
  mutating func record(actualReadBytes: Int) -> Bool {
    if actualReadBytes >= bytes {
      bytes = min(bytes * Self.growth, Self.maximumBytes)
    } else if actualReadBytes < bytes / Self.growth {
      bytes = max(bytes / Self.growth, Self.keptBytes)
    }
    return bytes > Self.keptBytes
  }
}
