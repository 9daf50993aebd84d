import Testing

@testable import BlogTUI

@Suite("Clipboard")
struct ClipboardTests {
  @Test(
    "Text is encoded as Base64",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"),
      ("é★", "w6nimIU="),
    ]
  )
  func encoding(text: String, expected: String) {
    let encoded = Clipboard.base64(Array(text.utf8))
    #expect(String(decoding: encoded, as: UTF8.self) == expected)
  }

  @Test("The sequence only sets the clipboard and is wrapped inside screen")
  func sequence() throws {
    let plain = try #require(Clipboard.sequence("foo", isInScreen: false))
    #expect(String(decoding: plain, as: UTF8.self) == "\u{1B}]52;c;Zm9v\u{7}")
    let wrapped = try #require(Clipboard.sequence("foo", isInScreen: true))
    #expect(String(decoding: wrapped, as: UTF8.self) == "\u{1B}P\u{1B}]52;c;Zm9v\u{7}\u{1B}\\")
  }

  @Test("Text that terminals would truncate is not sent")
  func limit() {
    let text = String(repeating: "x", count: Clipboard.limit + 1)
    #expect(Clipboard.sequence(text, isInScreen: false) == nil)
  }
}
