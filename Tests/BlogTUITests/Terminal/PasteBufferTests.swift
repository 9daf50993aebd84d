import Testing

@testable import BlogTUI

@Suite("PasteBuffer")
struct PasteBufferTests {
  @Test("A paste keeps its characters in order")
  func text() {
    var buffer = PasteBuffer()
    for scalar: Unicode.Scalar in ["a", "漢", "\r"] { buffer.append(scalar) }
    #expect(buffer.text == "a漢\r")
  }

  @Test("A paste stops growing at its limit")
  func limit() {
    var buffer = PasteBuffer()
    for _ in 0..<(PasteBuffer.limit + 10) { buffer.append("a") }
    #expect(buffer.text.utf8.count == PasteBuffer.limit)
  }
}
