import Testing

@testable import BlogTUI

@Suite("ScalarAssembler")
struct ScalarAssemblerTests {
  private func assemble(_ bytes: [UInt8], isUTF8: Bool = true) -> [Unicode.Scalar] {
    var assembler = ScalarAssembler(isUTF8: isUTF8)
    return bytes.flatMap { byte in
      let step = assembler.append(byte)
      return [step.isMalformed ? "\u{FFFD}" : nil, step.scalar].compactMap(\.self)
    }
  }

  @Test("Every Unicode scalar round-trips")
  func everyCharacter() {
    var assembler = ScalarAssembler(isUTF8: true)
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      var result: [Unicode.Scalar] = []
      for byte in UTF8.encode(scalar) ?? .init() {
        let step = assembler.append(byte)
        if step.isMalformed { Issue.record("malformed: \(value)") }
        if let next = step.scalar { result.append(next) }
      }
      if result != [scalar] { Issue.record("lost: \(value)") }
    }
  }

  @Test("Malformed bytes are reported without affecting later characters")
  func malformed() {
    let lost: Unicode.Scalar = "\u{FFFD}"
    #expect(assemble([0x80, 0x61]) == [lost, "a"])
    #expect(assemble([0xE6, 0xBC, 0x61]) == [lost, "a"])
    #expect(assemble([0xE6, 0xE6, 0xBC, 0xA2]) == [lost, "漢"])
    #expect(assemble([0xC0, 0x80, 0x61]) == [lost, lost, "a"])
    #expect(assemble([0xE0, 0x80, 0x80, 0x61]) == [lost, "a"])
    #expect(assemble([0xED, 0xA0, 0x80, 0x61]) == [lost, "a"])
    #expect(assemble([0xF4, 0x90, 0x80, 0x80, 0x61]) == [lost, "a"])
    #expect(assemble([0xFF, 0xFE, 0x61]) == [lost, lost, "a"])
  }

  @Test("A string is well-formed for the assembler exactly if it is for the standard library")
  func everyPair() {
    let bytes = (0x00...0xFF).map { UInt8($0) }
    for first in bytes {
      for second in bytes {
        let pair = [first, second, 0x61]
        let isValid = String(validating: pair, as: UTF8.self) != nil
        if assemble(pair).contains("\u{FFFD}") == isValid { Issue.record("\(pair)") }
      }
    }
  }

  @Test("Without UTF-8 only ASCII is decoded")
  func asciiOnly() {
    let lost: Unicode.Scalar = "\u{FFFD}"
    #expect(assemble([0xE6, 0xBC, 0xA2, 0x61], isUTF8: false) == [lost, lost, lost, "a"])
  }
}
