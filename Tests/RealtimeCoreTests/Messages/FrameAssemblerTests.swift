import RealtimeCore
import TestSupport
import Testing

@Suite("FrameAssembler")
struct FrameAssemblerTests {
  private func units(_ frame: [UInt8]) -> Int {
    String(decoding: frame, as: UTF8.self).utf16.count
  }

  @Test(
    "splits messages by UTF-16 units",
    arguments: [
      (16_384, [16_384]), (16_385, [1, 16_384, 1]), (32_768, [1, 16_384, 16_384]),
      (32_769, [1, 16_384, 16_384, 1]), (5, [5]), (0, [0]),
    ]
  )
  func cutting(length: Int, expected: [Int]) {
    let message = [UInt8](repeating: UInt8(ascii: "x"), count: length)
    let frames = FrameAssembler.frames(of: message)
    #expect(frames.map(\.count) == expected)
    if frames.count > 1 { #expect(frames[0] == Array(String(frames.count - 1).utf8)) }
  }

  @Test("does not split a message that is long only in bytes")
  func bytes() {
    let message = Array(String(repeating: "日", count: 16_384).utf8)
    #expect(FrameAssembler.frames(of: message) == [message])
  }

  @Test("never splits a character", arguments: ["🐵", "x🐵", "日", "é", "aé日🐵"])
  func characters(pattern: String) {
    let message = Array(String(repeating: pattern, count: 9_000).utf8)
    let frames = FrameAssembler.frames(of: message)
    for frame in frames {
      #expect(String(validating: frame, as: UTF8.self) != nil)
      #expect(units(frame) <= 16_384)
    }
    if frames.count > 1 { #expect(frames.dropFirst().flatMap(\.self) == message) }
  }

  @Test("reassembles messages from pieces of any size", arguments: 1...4 as ClosedRange<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var assembler = FrameAssembler()
    for _ in 0..<300 {
      let parts = ["x", "é", "日", "🐵", "\"", "12"]
      let text = (0..<Int.random(in: 7...300, using: &random)).map { _ in
        parts[Int.random(in: 0..<parts.count, using: &random)]
      }
      let message = Array("{\(text.joined())}".utf8)
      let size = Int.random(in: 2...40, using: &random)
      let frames = FrameAssembler.frames(of: message, segmentUnits: size)
      var received: [[UInt8]] = []
      for (index, frame) in frames.enumerated() {
        if let whole = try assembler.receive(frame) { received.append(whole) }
        #expect(assembler.isAssembling == (index < frames.count - 1))
      }
      #expect(received == [message])
      #expect(try assembler.receive(Array("0".utf8)) == nil)
    }
  }

  @Test("accepts empty pieces and pieces split within a character")
  func foreignPieces() throws {
    let message = Array("{\"a\":\"🐵🐵\"}".utf8)
    for cut in 0...message.count {
      var assembler = FrameAssembler()
      #expect(try assembler.receive(Array("2".utf8)) == nil)
      #expect(try assembler.receive(Array(message[..<cut])) == nil)
      #expect(try assembler.receive(Array(message[cut...])) == message)
    }
  }

  @Test("accepts a message announced as one piece or not announced")
  func single() throws {
    var assembler = FrameAssembler()
    #expect(try assembler.receive(Array("1".utf8)) == nil)
    #expect(try assembler.receive(Array("{}".utf8)) == Array("{}".utf8))
    #expect(try assembler.receive(Array("{}".utf8)) == Array("{}".utf8))
  }

  @Test("discards keepalive frames")
  func keepAlive() throws {
    var assembler = FrameAssembler()
    #expect(try assembler.receive(Array("0".utf8)) == nil)
    #expect(!assembler.isAssembling)
    #expect(try assembler.receive(Array("{}".utf8)) == Array("{}".utf8))
  }

  @Test("treats digits as a piece while assembling")
  func digits() throws {
    var assembler = FrameAssembler()
    _ = try assembler.receive(Array("2".utf8))
    #expect(try assembler.receive(Array("1".utf8)) == nil)
    #expect(try assembler.receive(Array("5".utf8)) == Array("15".utf8))
  }

  @Test("rejects more pieces or bytes than allowed")
  func limits() throws {
    var assembler = FrameAssembler(segmentLimit: 3, byteLimit: 10)
    #expect(throws: MessageError.self) { _ = try assembler.receive(Array("4".utf8)) }
    assembler = FrameAssembler(segmentLimit: 3, byteLimit: 10)
    #expect(throws: MessageError.self) { _ = try assembler.receive(Array("{12345678}x".utf8)) }
    assembler = FrameAssembler(segmentLimit: 3, byteLimit: 10)
    _ = try assembler.receive(Array("3".utf8))
    _ = try assembler.receive(Array("{12345678".utf8))
    #expect(throws: MessageError.self) { _ = try assembler.receive(Array("9}".utf8)) }
    assembler = FrameAssembler(segmentLimit: 3, byteLimit: 10)
    _ = try assembler.receive(Array("1".utf8))
    #expect(try assembler.receive(Array("{12345678}".utf8))?.count == 10)
    #expect(try assembler.receive(Array("{12345678}".utf8))?.count == 10)
  }

  @Test("reads six digits as a piece count and seven as a message")
  func longNumbers() throws {
    var assembler = FrameAssembler(segmentLimit: 999_999)
    #expect(try assembler.receive(Array("1000000".utf8)) == Array("1000000".utf8))
    #expect(try assembler.receive(Array("999999".utf8)) == nil)
    #expect(assembler.isAssembling)
    assembler = FrameAssembler(segmentLimit: 999_998)
    #expect(throws: MessageError.self) { _ = try assembler.receive(Array("999999".utf8)) }
  }
}

@Suite("WriteKey")
struct WriteKeyTests {
  @Test("survives a round trip")
  func roundTrip() {
    let key = WriteKey(client: "c-1", number: 12)
    #expect(key.wireText == "c-1:12")
    #expect(WriteKey(wire: key.wireText) == key)
  }

  @Test(
    "is rejected in any other form",
    arguments: ["", "c", ":1", "c:", "c:x", "c:-1", "c:1:2", "c: 1"]
  )
  func refusal(text: String) {
    #expect(WriteKey(wire: text) == nil)
  }

  @Test("limits the client ID to 64 bytes")
  func length() {
    #expect(WriteKey(wire: String(repeating: "c", count: 64) + ":1") != nil)
    #expect(WriteKey(wire: String(repeating: "c", count: 65) + ":1") == nil)
  }
}
