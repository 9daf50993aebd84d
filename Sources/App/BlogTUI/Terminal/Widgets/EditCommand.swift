/// What a key means inside a text editor, the same in one line and in many.
enum EditCommand: Hashable {
  case insert(String)
  case newline
  case left
  case right
  case wordLeft
  case wordRight
  case up
  case down
  case pageUp
  case pageDown
  case lineStart
  case lineEnd
  case deleteBefore
  case deleteAfter
  case killToLineStart
  case killToLineEnd
  case killWordBefore
  case killBlankSeparatedBefore
  case killWordAfter
  case yank
  case textStart
  case textEnd
  case undo
  case redo

  /// The command of a key, or nil if editors do not use it.
  init?(_ key: KeyEvent) {
    switch key {
    case .character(let character): self = .insert(String(character))
    case .paste(let text): self = .insert(text)
    case .enter, .control("j"), .control("m"): self = .newline
    case .left, .control("b"): self = .left
    case .right, .control("f"): self = .right
    case .controlLeft, .alt(.left), .alt(.character("b")): self = .wordLeft
    case .controlRight, .alt(.right), .alt(.character("f")): self = .wordRight
    case .up, .control("p"): self = .up
    case .down, .control("n"): self = .down
    case .pageUp: self = .pageUp
    case .pageDown: self = .pageDown
    case .home, .control("a"): self = .lineStart
    case .end, .control("e"): self = .lineEnd
    case .backspace, .control("h"): self = .deleteBefore
    case .delete, .control("d"): self = .deleteAfter
    case .control("u"): self = .killToLineStart
    case .control("k"): self = .killToLineEnd
    case .control("w"): self = .killBlankSeparatedBefore
    case .alt(.backspace): self = .killWordBefore
    case .alt(.character("d")): self = .killWordAfter
    case .control("y"): self = .yank
    case .alt(.character("<")): self = .textStart
    case .alt(.character(">")): self = .textEnd
    case .control("_"), .alt(.character("z")): self = .undo
    case .alt(.character("_")), .alt(.character("Z")): self = .redo
    case .control, .alt, .insert, .tab, .backTab, .escape, .function, .mouse, .resize:
      return nil
    }
  }

  /// The kind of step that the command is for ``UndoHistory``; nil if it changes nothing.
  var step: EditStep? {
    switch self {
    case .insert(let text):
      guard text.count == 1, let character = text.first else { return .whole }
      return character.isLetter || character.isNumber ? .letter : .separator
    case .newline: return .separator
    case .deleteBefore, .deleteAfter: return .removal
    case .killToLineStart, .killToLineEnd, .killWordBefore, .killBlankSeparatedBefore,
      .killWordAfter, .yank:
      return .whole
    case .left, .right, .wordLeft, .wordRight, .up, .down, .pageUp, .pageDown, .lineStart,
      .lineEnd, .textStart, .textEnd, .undo, .redo:
      return nil
    }
  }
}
