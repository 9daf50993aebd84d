import CNcurses

/// Turns what ncurses reads into keys.
enum KeyDecoder {
  /// Codes of our own for sequences that ncurses is told about; far above those it makes itself.
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
  }

  /// Sequences that terminals send although their terminfo entry does not say so.
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

  /// What begins a report of the mouse that has no limit of columns.
  static let mouseReportStart = "\u{1B}[<"

  /// The key of a code that ncurses made of a sequence, or nil if it is of no use.
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

  /// The key of a character, or nil if it is none.
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

  /// The event of a mouse report, or nil if it is of no use.
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
