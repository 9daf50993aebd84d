import CNcurses

/// One input read by ncurses.
enum KeyInput: Hashable {
  /// No input is available.
  case nothing
  /// The code of a recognised sequence.
  case code(Int32)
  /// A character.
  case scalar(Unicode.Scalar)
}

/// Turns input from ncurses into keys.
enum KeyDecoder {
  /// The program's own codes for sequences defined in ncurses; far above those that ncurses
  /// assigns.
  enum Code {
    static let pasteStart: Int32 = 4_000
    static let pasteEnd: Int32 = 4_001
    static let controlLeft: Int32 = 4_002
    static let controlRight: Int32 = 4_003
    static let altLeft: Int32 = 4_004
    static let altRight: Int32 = 4_005
    static let mouseReport: Int32 = 4_006
    static let canSynchronize: Int32 = 4_007
    static let cannotSynchronize: Int32 = 4_008
    static let firstMeasure: Int32 = 4_100
  }

  /// Sequences that terminals send even though their terminfo entries lack them.
  static let sequences: [(String, Int32)] = [
    ("\u{1B}[200~", Code.pasteStart), ("\u{1B}[201~", Code.pasteEnd),
    ("\u{1B}[A", KEY_UP), ("\u{1B}[B", KEY_DOWN), ("\u{1B}[C", KEY_RIGHT), ("\u{1B}[D", KEY_LEFT),
    ("\u{1B}OA", KEY_UP), ("\u{1B}OB", KEY_DOWN), ("\u{1B}OC", KEY_RIGHT), ("\u{1B}OD", KEY_LEFT),
    ("\u{1B}[H", KEY_HOME), ("\u{1B}[F", KEY_END), ("\u{1B}OH", KEY_HOME), ("\u{1B}OF", KEY_END),
    ("\u{1B}[1~", KEY_HOME), ("\u{1B}[4~", KEY_END), ("\u{1B}[3~", KEY_DC), ("\u{1B}[2~", KEY_IC),
    ("\u{1B}[5~", KEY_PPAGE), ("\u{1B}[6~", KEY_NPAGE), ("\u{1B}[Z", KEY_BTAB),
    ("\u{1B}[1;5D", Code.controlLeft), ("\u{1B}[1;5C", Code.controlRight),
    ("\u{1B}[1;3D", Code.altLeft), ("\u{1B}[1;3C", Code.altRight),
    ("\u{1B}[?2026;1$y", Code.canSynchronize), ("\u{1B}[?2026;2$y", Code.canSynchronize),
    ("\u{1B}[?2026;0$y", Code.cannotSynchronize), ("\u{1B}[?2026;3$y", Code.cannotSynchronize),
    ("\u{1B}[?2026;4$y", Code.cannotSynchronize),
  ]

  /// The start of a mouse report in the format without a column limit.
  static let mouseReportStart = "\u{1B}[<"

  /// The key of an ncurses key code; nil if the program does not use it.
  static func key(code: Int32) -> KeyEvent? {
    switch code {
    case KEY_UP: .up
    case KEY_DOWN: .down
    case KEY_LEFT: .left
    case KEY_RIGHT: .right
    case KEY_HOME: .home
    case KEY_END: .end
    case KEY_PPAGE: .pageUp
    case KEY_NPAGE: .pageDown
    case KEY_IC: .insert
    case KEY_DC: .delete
    case KEY_BACKSPACE: .backspace
    case KEY_BTAB: .backTab
    case KEY_ENTER: .enter
    case Code.controlLeft: .controlLeft
    case Code.controlRight: .controlRight
    case Code.altLeft: .alt(.left)
    case Code.altRight: .alt(.right)
    case nc_key_f(1)...nc_key_f(63): .function(Int(code - nc_key_f(0)))
    default: nil
    }
  }

  /// The key of a character; nil if it has none.
  static func key(scalar: Unicode.Scalar) -> KeyEvent? {
    let value = scalar.value
    switch value {
    case 0x00: return .control("@")
    case 0x08, 0x7F: return .backspace
    case 0x09: return .tab
    case 0x0D: return .enter
    case 0x1B: return .escape
    case 0x01...0x1A: return .control(character(value + 0x60))
    case 0x1C...0x1F: return .control(character(value + 0x40))
    case 0x80...0x9F: return nil
    default: return .character(Character(scalar))
    }
  }

  /// The event of a mouse report; nil if the program does not use it.
  static func key(mouse event: MEVENT) -> KeyEvent? {
    let position = Position(row: Int(event.y), column: Int(event.x))
    let kinds: [(mmask_t, MouseEvent.Kind)] = [
      (NC_BUTTON4_PRESSED, .wheelUp), (NC_BUTTON5_PRESSED, .wheelDown),
      (NC_BUTTON1_PRESSED, .press), (NC_BUTTON1_RELEASED, .release),
    ]
    let kind = kinds.first { event.bstate & $0.0 != 0 }?.1
    return kind.map { .mouse(MouseEvent(kind: $0, position: position)) }
  }

  private static func character(_ value: UInt32) -> Character {
    Character(Unicode.Scalar(value) ?? "?")
  }
}

/// A mouse report in decimal numbers whose start has been read: `0;301;5M`.
///
/// It is used where terminfo describes the old reports, which cannot express columns beyond 223.
struct MouseReport {
  /// The largest number of characters in a report.
  private static let limit = 24

  private var text = ""

  /// The state of a report after one more character.
  enum Outcome: Hashable {
    /// More characters have to follow.
    case incomplete
    /// The report is complete; nil if the program does not use it.
    case complete(KeyEvent?)
  }

  /// Adds one character.
  mutating func append(_ scalar: Unicode.Scalar) -> Outcome {
    switch scalar {
    case "M", "m": return .complete(event(isPress: scalar == "M"))
    case "0"..."9", ";":
      text.unicodeScalars.append(scalar)
      return text.utf8.count < Self.limit ? .incomplete : .complete(nil)
    default: return .complete(nil)
    }
  }

  private func event(isPress: Bool) -> KeyEvent? {
    let numbers = text.split(separator: ";").map { Int($0) ?? -1 }
    guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
    let kind: MouseEvent.Kind
    switch numbers[0] {
    case 0: kind = isPress ? .press : .release
    case 64: kind = .wheelUp
    case 65: kind = .wheelDown
    default: return nil
    }
    let position = Position(row: numbers[2] - 1, column: numbers[1] - 1)
    return .mouse(MouseEvent(kind: kind, position: position))
  }
}

/// Pasted text, from the mark at its start to the mark at its end.
struct PasteBuffer {
  /// The largest number of scalars in one paste; any further ones are dropped.
  static let limit = 1 << 20

  /// The text so far.
  private(set) var text = ""
  private var count = 0

  /// Adds one character.
  mutating func append(_ scalar: Unicode.Scalar) {
    guard count < Self.limit else { return }
    text.unicodeScalars.append(scalar)
    count += 1
  }
}

/// Assembles characters from bytes that arrive one by one.
struct ScalarAssembler {
  private let isUTF8: Bool
  private var value: UInt32 = 0
  private var missing = 0
  private var least: UInt32 = 0

  /// Makes an assembler; without UTF-8 it accepts only ASCII.
  init(isUTF8: Bool) {
    self.isUTF8 = isUTF8
  }

  /// Takes a byte and returns the character that it completes, if any; drops malformed bytes.
  mutating func append(_ byte: UInt8) -> Unicode.Scalar? {
    if byte < 0x80 {
      missing = 0
      return Unicode.Scalar(byte)
    }
    guard isUTF8 else { return nil }
    switch byte {
    case 0xC2...0xDF: begin(byte & 0x1F, missing: 1, least: 0x80)
    case 0xE0...0xEF: begin(byte & 0x0F, missing: 2, least: 0x800)
    case 0xF0...0xF4: begin(byte & 0x07, missing: 3, least: 0x10000)
    case 0x80...0xBF where missing > 0:
      value = value << 6 | UInt32(byte & 0x3F)
      missing -= 1
      if missing == 0 && value >= least { return Unicode.Scalar(value) }
    default:
      missing = 0
    }
    return nil
  }

  private mutating func begin(_ bits: UInt8, missing: Int, least: UInt32) {
    value = UInt32(bits)
    self.missing = missing
    self.least = least
  }
}
