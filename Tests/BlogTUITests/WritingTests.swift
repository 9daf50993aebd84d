import BlogModel
import Testing

@testable import BlogTUI

@Suite("Drafts and unsent text")
struct WritingTests {
  @Test("The preview scrolls with the text, and code that starts above the screen stays code")
  func scrolledPreview() {
    var model = Fixture.loaded(Size(width: 140, height: 24))
    let code = (0..<60).map { "*line \($0)*" }.joined(separator: "\n")
    model.type("c", .tab, .paste("```\n" + code))
    let right = model.rows.compactMap { $0.firstIndex(of: "│").map($0.suffix(from:)) }
    #expect(right.contains { $0.contains("*line 59*") })
    let long = String(repeating: "word ", count: 100_000)
    model.type(.paste("\n" + long + String(repeating: "\n", count: 3) + "end"))
    #expect(model.rows.contains { $0.contains("end") })
  }

  @Test("A paste of 100 KB is kept whole", .timeLimit(.minutes(1)))
  func hugePaste() {
    var model = Fixture.loaded()
    let text = String(repeating: "0123456789abcde\n", count: 6_400)
    model.type("c", "T", .tab, .paste(text))
    #expect(model.composer?.body.text == text)
    #expect(model.composer?.body.utf16Count == 102_400)
    #expect(model.rows[0].contains("The text is 36864 characters too long."))
    #expect(model.type(.control("s")) == [])
  }
}
