import NIOCore
import Testing

@testable import RealtimeTransport

@Suite("Buffers for reading")
struct ReadBuffersTests {
  /// The buffers that NIO keeps for a connection.
  private let pool = NIOPooledRecvBufferAllocator(
    capacity: Int(ReadBuffers.readsPerTurn),
    recvAllocator: ReadBuffers()
  )

  /// Reads as much as fits of what has arrived; returns the buffer.
  private func read(
    _ arrived: inout Int,
    into pool: inout NIOPooledRecvBufferAllocator
  ) -> ByteBuffer {
    let (buffer, count) = pool.buffer(allocator: ByteBufferAllocator()) { buffer in
      buffer.writeRepeatingByte(0, count: min(arrived, buffer.writableBytes))
    }
    arrived -= count
    pool.record(actualReadBytes: count)
    return buffer
  }

  @Test("Long messages are read in large pieces, and leave a small buffer behind")
  func sizes() {
    var pool = pool
    for length in [100, 300, 511] {
      var arrived = length
      #expect(read(&arrived, into: &pool).capacity == ReadBuffers.keptBytes)
      #expect(arrived == 0)
    }
    var arrived = 1_000_000
    var capacities: [Int] = []
    while arrived > 0 { capacities.append(read(&arrived, into: &pool).capacity) }
    #expect(capacities.count < 25)
    #expect(capacities.max() == 64 * 1_024)
    // What arrives next finds its size after a few short messages.
    for _ in 0..<4 {
      arrived = 10
      _ = read(&arrived, into: &pool)
    }
    arrived = 300
    #expect(read(&arrived, into: &pool).capacity == ReadBuffers.keptBytes)
  }

  @Test(
    "Only the small buffer is kept, however the lengths of messages change",
    arguments: [[600], [512, 512, 1], [70_000, 3], [5_000, 20_000, 5_000], [200_000]]
  )
  func keptBuffer(lengths: [Int]) {
    var pool = pool
    var first: UnsafeRawPointer?
    for length in [1] + Array(repeating: lengths, count: 5).flatMap(\.self) {
      var arrived = length
      while arrived > 0 {
        let buffer = read(&arrived, into: &pool)
        let address = buffer.withUnsafeReadableBytes { $0.baseAddress }
        first = first ?? address
        // Whatever is larger belongs to one read alone.
        #expect((address == first) == (buffer.capacity == ReadBuffers.keptBytes))
      }
    }
    #expect(pool.count == 1)
  }
}
