import NIOCore
import NIOEmbedded
import NIOWebSocket
import TestSupport
import Testing

@testable import RealtimeTransport

@Suite("FrameDecoder")
struct FrameDecoderTests {
  /// Consecutive frames, as NIO's own encoder writes them.
  private func bytes(_ frames: [WebSocketFrame]) throws -> [UInt8] {
    let writer = EmbeddedChannel(handler: WebSocketFrameEncoder())
    for frame in frames { try writer.writeOutbound(frame) }
    var bytes: [UInt8] = []
    while let part = try writer.readOutbound(as: ByteBuffer.self) {
      bytes += part.readableBytesView
    }
    _ = try writer.finish()
    return bytes
  }

  private func frame(_ length: Int, isMasked: Bool, isFinal: Bool = true) -> WebSocketFrame {
    let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    return WebSocketFrame(
      fin: isFinal,
      opcode: .text,
      maskKey: isMasked ? WebSocketMaskingKey([0x5A, 0xC3, 0x17, 0x99]) : nil,
      data: ByteBuffer(bytes: payload)
    )
  }

  @Test("decodes what NIO's encoder writes, split at any position", arguments: [false, true])
  func everything(isMasked: Bool) throws {
    let lengths = [0, 1, 125, 126, 127, 300, 65_535, 65_536, 3]
    let bytes = try bytes(lengths.map { frame($0, isMasked: isMasked, isFinal: $0 != 300) })
    var random = SplitMix64(seed: 11)
    for longest in [1 << 20, 70_000, 900, 3] {
      var decoder = FrameDecoder(byteLimit: 1 << 20, isMasked: isMasked)
      var frames: [FrameDecoder.Frame] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(1 + random.below(longest))
        rest = rest.dropFirst(piece.count)
        decoder.append(ByteBuffer(bytes: piece))
        while let frame = try decoder.next() { frames.append(frame) }
      }
      #expect(frames.map(\.payload.count) == lengths)
      #expect(frames.map(\.isFinal) == lengths.map { $0 != 300 })
      #expect(
        frames.allSatisfy { frame in
          frame.opcode == .text
            && frame.payload.indices.allSatisfy {
              frame.payload[$0] == UInt8(truncatingIfNeeded: $0 &* 31)
            }
        }
      )
    }
  }

  @Test(
    "detects an invalid frame from its first bytes",
    arguments: [
      ([0x81, 0x83], nil), ([0x81, 0xFE, 4, 0], nil), ([0x81, 0xFE, 4, 1], .tooLong),
      ([0x81, 0xFF, 0, 0, 0, 0, 0, 0, 4, 0], nil),
      ([0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], .tooLong), ([0xC1, 0x83], .wrongFlags),
      ([0xA1, 0x83], .wrongFlags), ([0x91, 0x83], .wrongFlags), ([0x81, 0x03], .wrongFlags),
      ([0x09, 0x80], .wrongControl),
      ([0x89, 0xFE], .wrongControl), ([0x89, 0xFF], .wrongControl), ([0x89, 0xFD], nil),
      ([0x81], nil),
    ] as [([UInt8], FrameDecoder.Violation?)]
  )
  func violations(head: [UInt8], violation: FrameDecoder.Violation?) {
    var decoder = FrameDecoder(byteLimit: 1_024, isMasked: true)
    decoder.append(ByteBuffer(bytes: head))
    do throws(FrameDecoder.Violation) {
      #expect(try decoder.next()?.payload == nil)
      #expect(violation == nil)
    } catch {
      #expect(error == violation)
    }
  }

  @Test("releases the socket's buffer with its last frame, and not before")
  func buffer() throws {
    var read = ByteBuffer(bytes: try bytes([frame(5, isMasked: true), frame(7, isMasked: true)]))
    let place = read.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
    var decoder = FrameDecoder(byteLimit: 1_024, isMasked: true)
    decoder.append(read)
    #expect(try decoder.next()?.payload.count == 5)
    #expect(try decoder.next()?.payload.count == 7)
    #expect(try decoder.next()?.payload == nil)
    // Changing a buffer that has no other owner needs no copy.
    read.setInteger(UInt8(0), at: 0)
    #expect(read.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) } == place)
  }

  @Test("distinguishes all kinds of frames")
  func opcodes() throws {
    let kinds: [WebSocketOpcode] = [.continuation, .text, .binary, .connectionClose, .ping, .pong]
    var decoder = FrameDecoder(byteLimit: 1_024, isMasked: false)
    let frames = kinds.map { WebSocketFrame(fin: true, opcode: $0, data: ByteBuffer()) }
    decoder.append(ByteBuffer(bytes: try bytes(frames)))
    #expect(try kinds.map { _ in try decoder.next()?.opcode } == kinds)
  }

  @Test("keeps only undelivered bytes, even if no read ever ends at a frame boundary")
  func memory() throws {
    let frame = try bytes([frame(1_000, isMasked: true)])
    let stream = frame + frame
    var decoder = FrameDecoder(byteLimit: 1 << 20, isMasked: true)
    decoder.append(ByteBuffer(bytes: frame.prefix(1)))
    for _ in 0..<20_000 {
      // The rest of one frame, and the first byte of the next.
      decoder.append(ByteBuffer(bytes: stream[1...frame.count]))
      #expect(try decoder.next()?.payload.count == 1_000)
    }
    #expect(decoder.capacity < 64 * 1_024)
  }
}
