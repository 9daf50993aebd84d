import Testing

@testable import BlogTUI

@Suite("ScalarAssembler")
struct ScalarAssemblerTests {
  private func assemble(_ bytes: [UInt8], isUTF8: Bool = true) -> [Unicode.Scalar] {
    var assembler = ScalarAssembler(isUTF8: isUTF8)
    return bytes.compactMap { assembler.append($0) }
  }

  @Test("Every Unicode scalar round-trips")
  func everyCharacter() {
    var assembler = ScalarAssembler(isUTF8: true)
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      var result: [Unicode.Scalar] = []
      for byte in UTF8.encode(scalar) ?? .init() {
        if let next = assembler.append(byte) { result.append(next) }
      }
      if result != [scalar] { Issue.record("lost: \(value)") }
    }
  }

  @Test("Malformed bytes are dropped without affecting later characters")
  func malformed() {
    #expect(assemble([0x80, 0x61]) == ["a"])
    #expect(assemble([0xE6, 0xBC, 0x61]) == ["a"])
    #expect(assemble([0xE6, 0xE6, 0xBC, 0xA2]) == ["漢"])
    #expect(assemble([0xC0, 0x80, 0x61]) == ["a"])
    #expect(assemble([0xE0, 0x80, 0x80, 0x61]) == ["a"])
    #expect(assemble([0xED, 0xA0, 0x80, 0x61]) == ["a"])
    #expect(assemble([0xF4, 0x90, 0x80, 0x80, 0x61]) == ["a"])
    #expect(assemble([0xFF, 0xFE, 0x61]) == ["a"])
  }

  @Test("Without UTF-8 only ASCII is decoded")
  func asciiOnly() {
    #expect(assemble([0xE6, 0xBC, 0xA2, 0x61], isUTF8: false) == ["a"])
  }
}
