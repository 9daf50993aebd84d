import Testing

@testable import BlogTUI

@Suite("CharacterRepertoire")
struct CharacterRepertoireTests {
  @Test("ASCII forms take as many cells as what they stand for", arguments: HostileText.corpus)
  func sameShape(input: String) {
    for cluster in SafeText(untrusted: input, mode: .multiLine).clusters {
      let forms = cluster.asciiForms
      #expect(forms.reduce(0) { $0 + $1.width } == cluster.width)
      #expect(forms.flatMap(\.text.utf8).allSatisfy { (0x20..<0x7F).contains($0) })
    }
  }

  @Test("Letters lose accents, symbols are approximated, and the rest becomes a question mark")
  func forms() {
    let text = SafeText(untrusted: "e\u{301} “x” … 漢 ★ \u{1B}")
    let forms = text.clusters.flatMap(\.asciiForms)
    #expect(forms.map(\.text).joined() == "e \"x\" ~ ?? * ?")
  }

  @Test("The ASCII glyph set is pure ASCII, and both sets have equal widths")
  func glyphs() {
    for glyphs in [GlyphSet.ascii, .unicode] {
      let signs = [
        glyphs.star, glyphs.emptyStar, glyphs.bullet, glyphs.ellipsis, glyphs.left,
        glyphs.right, glyphs.selection, glyphs.separator, glyphs.check, glyphs.cross,
        glyphs.pending, glyphs.online, glyphs.offline, glyphs.horizontal, glyphs.vertical,
        glyphs.topLeft, glyphs.topRight, glyphs.bottomLeft, glyphs.bottomRight, glyphs.scrollThumb,
      ]
      for sign in signs where sign != glyphs.ellipsis { #expect(sign.width == 1) }
      if glyphs == .ascii {
        #expect(signs.flatMap(\.clusters).allSatisfy { $0.asciiForms == [$0] })
      }
    }
    #expect(GlyphSet.of(.ascii) == .ascii)
    #expect(GlyphSet.of(.unicode) == .unicode)
  }
}
