import CNcurses
import Testing

@testable import BlogTUI

@Suite("KeyDecoder")
struct KeyDecoderTests {
  @Test("Controls become the keys that send them")
  func controls() {
    #expect(KeyDecoder.key(scalar: "\u{0C}") == .control("l"))
    #expect(KeyDecoder.key(scalar: "\u{0D}") == .enter)
    #expect(KeyDecoder.key(scalar: "\u{0A}") == .control("j"))
    #expect(KeyDecoder.key(scalar: "\u{09}") == .tab)
    #expect(KeyDecoder.key(scalar: "\u{7F}") == .backspace)
    #expect(KeyDecoder.key(scalar: "\u{08}") == .backspace)
    #expect(KeyDecoder.key(scalar: "\u{1B}") == .escape)
    #expect(KeyDecoder.key(scalar: "\u{00}") == .control("@"))
    #expect(KeyDecoder.key(scalar: "\u{1C}") == .control("\\"))
    #expect(KeyDecoder.key(scalar: "\u{1F}") == .control("_"))
  }

  @Test("Characters are themselves, and what is none is dropped")
  func characters() {
    #expect(KeyDecoder.key(scalar: "\u{6F22}") == .character("漢"))
    #expect(KeyDecoder.key(scalar: "\u{20}") == .character(" "))
    #expect(KeyDecoder.key(scalar: "\u{9B}") == nil)
  }

  @Test("Codes of ncurses and our own become named keys")
  func codes() {
    #expect(KeyDecoder.key(code: KEY_UP) == .up)
    #expect(KeyDecoder.key(code: KEY_BTAB) == .backTab)
    #expect(KeyDecoder.key(code: nc_key_f(12)) == .function(12))
    #expect(KeyDecoder.key(code: KeyDecoder.Code.controlLeft) == .controlLeft)
    #expect(KeyDecoder.key(code: KEY_RESIZE) == nil)
  }

  @Test("Wheel and clicks are reported with their cell")
  func mouse() {
    var event = MEVENT()
    event.x = 7
    event.y = 3
    event.bstate = NC_BUTTON5_PRESSED
    let position = Position(row: 3, column: 7)
    let expected = KeyEvent.mouse(MouseEvent(kind: .wheelDown, position: position))
    #expect(KeyDecoder.key(mouse: event) == expected)
    event.bstate = 0
    #expect(KeyDecoder.key(mouse: event) == nil)
  }
}
