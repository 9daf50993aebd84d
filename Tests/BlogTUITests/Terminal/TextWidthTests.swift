import Testing

@testable import BlogTUI

@Suite("TextWidth")
struct TextWidthTests {
  @Test("Printable ASCII takes one cell, and controls have no width")
  func ascii() {
    for value in UInt8.min...0x7F {
      let expected = (0x20..<0x7F).contains(value) ? 1 : nil
      #expect(TextWidth.width(of: Unicode.Scalar(value)) == expected)
    }
  }

  @Test(
    "A string is as wide as its visible characters",
    arguments: [
      ("é", 1), ("e\u{301}", 1), ("漢字", 4), ("한글", 4), ("１", 2), ("👍", 2), ("👍🏽", 2),
      ("👨‍👩‍👧", 2), ("❤️", 2), ("🇩🇪", 2), ("\u{200B}", 0), ("\u{1FABF}", 1), ("☆★…█", 4),
    ]
  )
  func strings(text: String, width: Int) {
    #expect(TextWidth.width(of: text) == width)
  }

  @Test("The ranges of every table are sorted and do not overlap")
  func rangesAscend() {
    for table in [
      TextWidth.zeroWidthRanges, TextWidth.wideRanges, TextWidth.unknownRanges,
    ] {
      #expect(table.count.isMultiple(of: 2))
      for index in stride(from: 0, to: table.count, by: 2) {
        #expect(table[index] <= table[index + 1])
        if index > 0 { #expect(table[index - 1] < table[index]) }
      }
    }
  }
}
