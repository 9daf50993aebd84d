import Testing

@testable import BlogTUI

@Suite("CharacterRepertoire")
struct CharacterRepertoireTests {
  @Test("Transliterated text keeps its lines and widths", arguments: HostileText.corpus)
  func sameShape(input: String) {
    let text = SafeText(untrusted: input, mode: .multiLine)
    let ascii = text.transliterated(to: .ascii)
    #expect(ascii.lines.map(\.width) == text.lines.map(\.width))
    #expect(ascii.string.utf8.allSatisfy { $0 == 0x0A || (0x20..<0x7F).contains($0) })
    #expect(text.transliterated(to: .unicode) == text)
  }

  @Test("Letters lose accents, symbols are approximated, and the rest becomes a question mark")
  func forms() {
    let text = SafeText(untrusted: "e\u{301} “x” … 漢 ★ \u{1B}")
    #expect(text.transliterated(to: .ascii).string == "e \"x\" ~ ?? * ?")
  }

  @Test("The ASCII glyph set is pure ASCII, and both sets have equal widths")
  func glyphs() {
    for glyphs in [GlyphSet.ascii, .unicode] {
      let signs = [
        glyphs.star, glyphs.emptyStar, glyphs.bullet, glyphs.ellipsis, glyphs.up, glyphs.down,
        glyphs.left, glyphs.right, glyphs.selection, glyphs.separator, glyphs.check, glyphs.cross,
        glyphs.pending, glyphs.online, glyphs.offline, glyphs.horizontal, glyphs.vertical,
        glyphs.topLeft, glyphs.topRight, glyphs.bottomLeft, glyphs.bottomRight, glyphs.scrollThumb,
      ]
      for sign in signs where sign != glyphs.ellipsis { #expect(sign.width == 1) }
      if glyphs == .ascii { #expect(signs.allSatisfy { $0.transliterated(to: .ascii) == $0 }) }
    }
    #expect(GlyphSet.of(.ascii) == .ascii)
    #expect(GlyphSet.of(.unicode) == .unicode)
  }
}
