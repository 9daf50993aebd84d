/// What a key means in a text editor, whether it has one line or many.
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

  /// The command of a key; nil if editors do not use the key.
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

  /// How ``UndoHistory`` groups the command; nil if it changes nothing.
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

/// What a key did to a text editor.
package enum EditOutcome: Hashable, Sendable {
  case ignored
  /// The cursor or the view moved, or could move no further; the text is unchanged.
  case moved
  case changed
  /// The user has finished a single-line field.
  case submitted
}

/// What a step of an editor did; steps of the same kind are undone together.
enum EditStep: Hashable, Sendable {
  /// One character of a word was typed.
  case letter
  /// Something that ends a word was typed.
  case separator
  case removal
  /// Anything else, which is always a step of its own.
  case whole
}

/// Decides which characters editors accept, from the keyboard and from the clipboard alike.
enum EditorText {
  /// The characters of the input without controls and without anything that hides or reorders text.
  ///
  /// Line breaks of any kind become newlines; a tab becomes four blanks.
  static func characters(of input: String) -> [Character] {
    var scalars = String.UnicodeScalarView()
    var afterCarriageReturn = false
    for scalar in input.unicodeScalars {
      let followsCarriageReturn = afterCarriageReturn
      afterCarriageReturn = scalar == "\r"
      switch scalar.value {
      case 0x0A:
        if !followsCarriageReturn { scalars.append("\n") }
      case 0x0D, 0x85, 0x2028, 0x2029:
        scalars.append("\n")
      case 0x09:
        scalars.append(contentsOf: "    ".unicodeScalars)
      case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069,
        0xFDD0...0xFDEF:
        break
      default:
        if scalar.value & 0xFFFE != 0xFFFE { scalars.append(scalar) }
      }
    }
    return Array(String(scalars))
  }

  /// Replaces a range of characters, and returns the index after the inserted ones.
  ///
  /// Adjacent characters that together form one (a letter and its accent) are joined.
  static func replace(
    _ range: Range<Int>,
    of characters: inout [Character],
    with new: some Collection<Character>
  ) -> Int {
    let before = characters.count - range.count
    characters.replaceSubrange(range, with: new)
    let end = range.lowerBound + characters.count - before
    let joinedStart = joinSeam(of: &characters, at: range.lowerBound)
    let shifted = max(range.lowerBound, end - (joinedStart ? 1 : 0))
    if range.lowerBound < end { _ = joinSeam(of: &characters, at: shifted) }
    return min(shifted, characters.count)
  }

  private static func joinSeam(of characters: inout [Character], at index: Int) -> Bool {
    guard index > 0, index < characters.count else { return false }
    let (left, right) = (characters[index - 1], characters[index])
    guard !left.isASCII || !right.isASCII else { return false }
    let pair = String(left) + String(right)
    guard pair.count == 1, let joined = pair.first else { return false }
    characters.replaceSubrange((index - 1)...index, with: CollectionOfOne(joined))
    return true
  }

  /// The characters as they are drawn, each on its own so that widths add up.
  static func shown(_ characters: some Sequence<Character>) -> SafeText {
    var text = SafeText.empty
    for character in characters { text.append(SafeText(untrusted: String(character))) }
    return text
  }

  static func wordStart(before index: Int, in characters: [Character]) -> Int {
    var start = index
    while start > 0 && !isWord(characters[start - 1]) { start -= 1 }
    while start > 0 && isWord(characters[start - 1]) { start -= 1 }
    return start
  }

  static func wordEnd(after index: Int, in characters: [Character]) -> Int {
    var end = index
    while end < characters.count && !isWord(characters[end]) { end += 1 }
    while end < characters.count && isWord(characters[end]) { end += 1 }
    return end
  }

  /// The start of the run of non-blank characters before the index.
  static func blankSeparatedStart(before index: Int, in characters: [Character]) -> Int {
    var start = index
    while start > 0 && characters[start - 1].isWhitespace { start -= 1 }
    while start > 0 && !characters[start - 1].isWhitespace { start -= 1 }
    return start
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber
  }
}

/// The undo and redo history of an editor.
///
/// Steps of the same kind are grouped, so that a whole word is undone or redone at once.
struct UndoHistory<State: Hashable & Sendable>: Hashable, Sendable {
  /// The number of steps that are kept.
  static var limit: Int { 200 }

  private var past: [State] = []
  private var future: [State] = []
  private var latest: EditStep?

  /// Whether a step of that kind would be undone on its own: then the state before it is kept.
  func begins(_ kind: EditStep) -> Bool {
    // A word joins the separators before it: undoing it restores the line as it was before both.
    let follows = latest == kind || (latest == .separator && kind == .letter)
    return !follows || kind == .whole || past.isEmpty
  }

  /// Takes note of a step, with the state before it if the step ``begins(_:)``.
  mutating func record(_ state: State?, as kind: EditStep) {
    latest = kind
    future = []
    guard let state else { return }
    past.append(state)
    if past.count > Self.limit { past.removeFirst() }
  }

  /// Makes the next step separate from the previous one, because the cursor was moved.
  mutating func interrupt() {
    latest = nil
  }

  /// The state before the latest step; nil if there is none.
  mutating func undo(from state: State) -> State? {
    guard let before = past.popLast() else { return nil }
    future.append(state)
    latest = nil
    return before
  }

  /// The state that was undone last; nil if there is none.
  mutating func redo(from state: State) -> State? {
    guard let after = future.popLast() else { return nil }
    past.append(state)
    latest = nil
    return after
  }
}
