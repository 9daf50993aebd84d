import Testing

@testable import RealtimeServer

@Suite("EmailAddress")
struct EmailAddressTests {
  @Test(
    "An address is converted to lowercase",
    arguments: [
      ("ada@example.com", "ada@example.com"), ("Ada.L+x@Example.COM", "ada.l+x@example.com"),
      ("a@localhost", "a@localhost"), ("a@xn--bcher-kva.example", "a@xn--bcher-kva.example"),
    ]
  )
  func taken(text: String, expected: String) {
    #expect(EmailAddress(text)?.text == expected)
  }

  @Test(
    "An invalid or confusable address is refused",
    arguments: [
      "", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b c", ".a@b", "a.@b", "a..b@c", "a@.b", "a@b.",
      "a@-b", "a@b-", "a@b..c", "a@b_c", "\"a\"@b", "a@[127.0.0.1]", "a\u{0}@b", "a@b\r\nBcc: c",
      // A Kelvin sign, a dotless i, a full-width letter, a zero-width space, right-to-left, Cyrillic.
      "\u{212A}@b.c", "\u{0131}@b.c", "\u{FF41}@b.c", "a\u{200B}@b.c", "a\u{202E}@b.c",
      "\u{0430}@b.c",
      "é@b.c", "e\u{0301}@b.c", "a@bücher.example", "a\u{FF20}b.c",
    ]
  )
  func refused(text: String) {
    #expect(EmailAddress(text) == nil)
  }

  @Test("An address may be as long as the standard allows, and no longer")
  func lengths() {
    let local = String(repeating: "a", count: 64)
    let label = String(repeating: "b", count: 63)
    #expect(EmailAddress("\(local)@\(label).c") != nil)
    #expect(EmailAddress("\(local)a@\(label).c") == nil)
    #expect(EmailAddress("\(local)@\(label)b.c") == nil)
    #expect(EmailAddress("\(local)@\(label).\(label).\(label)") == nil)
  }
}
