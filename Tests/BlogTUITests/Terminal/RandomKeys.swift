import TestSupport

@testable import BlogTUI

/// Keys in random order, as a cat would type them.
enum RandomKeys {
  private static let keys: [KeyEvent] = [
    .up, .down, .left, .right, .home, .end, .pageUp, .pageDown, .insert, .delete, .backspace,
    .tab, .backTab, .enter, .escape, .controlLeft, .controlRight, .function(1), .alt(.left),
    .alt(.character("b")), .alt(.character("d")), .alt(.character("f")), .alt(.backspace),
    .character("j"), .character("k"), .character("g"), .character("G"), .character(" "),
    .resize(Size(width: 3, height: 3)),
    .mouse(MouseEvent(kind: .wheelDown, position: Position(row: 0, column: 0))),
    .mouse(MouseEvent(kind: .press, position: Position(row: 0, column: 0))),
  ]

  static func next(using generator: inout SplitMix64) -> KeyEvent {
    switch Int.random(in: 0...9, using: &generator) {
    case 0:
      return .control(Character(Unicode.Scalar(UInt8.random(in: 97...122, using: &generator))))
    case 1:
      return .paste(HostileText.corpus.randomElement(using: &generator) ?? "")
    case 2, 3:
      let characters: [Character] = ["a", "é", "漢", "👍🏽", "\u{301}", " ", "\u{200D}", "🇩", "👩"]
      return .character(characters.randomElement(using: &generator) ?? "a")
    default:
      return keys.randomElement(using: &generator) ?? .up
    }
  }
}
