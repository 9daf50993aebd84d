/// The sequences that terminals send: what each means for the program, if anything.
///
/// It covers xterm and those like it, the protocols of kitty (`CSI u`) and of xterm's
/// `modifyOtherKeys` (`CSI 27;m;k~`), the keypad in application mode, rxvt, the Linux console, the
/// mouse in all of its encodings, and the replies that the program asks for.
enum TerminalKeys {
  /// The keys that were held down with another one.
  private struct Modifiers: OptionSet {
    let rawValue: Int
    static let shift = Modifiers(rawValue: 1)
    static let alt = Modifiers(rawValue: 2)
    static let control = Modifiers(rawValue: 4)
    /// Caps lock and num lock, which matter to the terminal only.
    static let locks = Modifiers(rawValue: 64 | 128)

    init(rawValue: Int) { self.rawValue = rawValue }

    /// The modifiers of a parameter, which counts from 1; nil if there are any that mean nothing
    /// here.
    init?(parameter: Int) {
      let modifiers = Modifiers(rawValue: max(1, parameter) - 1).subtracting(.locks)
      guard (0..<8).contains(modifiers.rawValue) else { return nil }
      self = modifiers
    }
  }

  /// A control sequence, taken apart.
  private struct Sequence {
    /// The private marker, one of `< = > ?`.
    var marker: UInt8?
    /// The numbers, each with its subparameters; a missing one counts as 0.
    var numbers: [[Int]] = []
    var intermediates: [UInt8] = []
    let final: UInt8

    /// Takes the bytes of a sequence apart; nil if their order is not that of the grammar.
    init?(_ bytes: [UInt8]) {
      guard bytes.count > 2, let final = bytes.last else { return nil }
      self.final = final
      var body = bytes[2..<(bytes.count - 1)]
      if let first = body.first, (0x3C...0x3F).contains(first) {
        marker = first
        body = body.dropFirst()
      }
      let end = body.firstIndex { $0 < 0x30 } ?? body.endIndex
      intermediates = Array(body[end...])
      guard intermediates.allSatisfy({ $0 < 0x30 }) else { return nil }
      let parameters = body[..<end]
      guard parameters.allSatisfy({ $0 <= 0x3B }) else { return nil }
      guard !parameters.isEmpty else { return }
      numbers = parameters.split(separator: 0x3B, omittingEmptySubsequences: false).map {
        $0.split(separator: 0x3A, omittingEmptySubsequences: false).map(Self.number)
      }
    }

    /// The number that the digits write, at most a million.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int {
      digits.reduce(0) { min(1_000_000, $0 * 10 + Int($1 - 0x30)) }
    }

    /// A number, or 0.
    func number(_ index: Int, _ part: Int = 0) -> Int {
      guard numbers.indices.contains(index), numbers[index].indices.contains(part) else { return 0 }
      return numbers[index][part]
    }
  }

  /// What a complete sequence means; nil if it means nothing here.
  static func event(of bytes: [UInt8]) -> InputEvent? {
    guard bytes.count > 2 else { return nil }
    if bytes[1] == UInt8(ascii: "O") { return single(bytes).map { .key($0) } }
    if bytes[2] == UInt8(ascii: "["), bytes.count == 4 {
      let number = Int(bytes[3]) - Int(UInt8(ascii: "A"))
      return (0..<5).contains(number) ? .key(.function(number + 1)) : nil
    }
    // A single number is followed by this byte only in rxvt.
    if bytes.last == UInt8(ascii: "$"), isShiftedNumber(bytes.dropLast().dropFirst(2)) {
      return Sequence(bytes).flatMap { numbered($0.number(0), .shift) }.map { .key($0) }
    }
    guard let sequence = Sequence(bytes) else { return nil }
    if sequence.marker == UInt8(ascii: "<") { return mouse(sequence).map { .key($0) } }
    if sequence.marker == UInt8(ascii: "?") { return reply(sequence) }
    guard sequence.marker == nil, sequence.intermediates.isEmpty else { return nil }
    if sequence.final == UInt8(ascii: "R"), let position = position(sequence) { return position }
    return key(sequence).map { .key($0) }
  }

  /// Whether these are the one or two digits of a key of rxvt.
  static func isShiftedNumber(_ digits: ArraySlice<UInt8>) -> Bool {
    (1...2).contains(digits.count) && digits.allSatisfy { (0x30...0x39).contains($0) }
  }

  // MARK: Replies

  /// The reply in a string, given from the last byte of its introducer, such as
  /// `]11;rgb:1e1e/1e1e/1e1e`.
  static func reply(ofString content: [UInt8]) -> InputEvent? {
    let text = String(decoding: content, as: UTF8.self)
    guard let start = ["]11;rgb:", "]11;rgba:"].first(where: text.hasPrefix) else { return nil }
    let parts = text.dropFirst(start.count).split(separator: "/", omittingEmptySubsequences: false)
    let shares = parts.compactMap { digits -> Double? in
      guard (1...4).contains(digits.count), let value = UInt16(digits, radix: 16) else {
        return nil
      }
      return Double(value) / Double(1 << (4 * digits.count) - 1)
    }
    guard shares.count == parts.count, (3...4).contains(parts.count) else { return nil }
    return .background(isLight: 0.299 * shares[0] + 0.587 * shares[1] + 0.114 * shares[2] > 0.5)
  }

  private static func reply(_ sequence: Sequence) -> InputEvent? {
    guard sequence.final == UInt8(ascii: "y"), sequence.intermediates == Array("$".utf8),
      sequence.number(0) == 2_026
    else { return nil }
    return .canSynchronize([1, 2].contains(sequence.number(1)))
  }

  /// The position of the cursor; in the first row it looks like F3 with modifiers.
  private static func position(_ sequence: Sequence) -> InputEvent? {
    let (row, column) = (sequence.number(0), sequence.number(1))
    guard sequence.numbers.count == 2, row > 1 || column > 16 else { return nil }
    return .cursor(row: row, column: column)
  }

  // MARK: The mouse

  private static func mouse(_ sequence: Sequence) -> KeyEvent? {
    guard sequence.numbers.count == 3, sequence.intermediates.isEmpty,
      sequence.final == UInt8(ascii: "M") || sequence.final == UInt8(ascii: "m")
    else { return nil }
    return mouse(
      button: sequence.number(0),
      column: sequence.number(1),
      row: sequence.number(2),
      isPress: sequence.final == UInt8(ascii: "M")
    )
  }

  /// The event of a mouse report, whose cells count from 1; nil if the program does not use it.
  static func mouse(button: Int, column: Int, row: Int, isPress: Bool) -> KeyEvent? {
    guard column > 0, row > 0 else { return nil }
    let kind: MouseEvent.Kind
    switch button {
    case 0: kind = isPress ? .press : .release
    // The old reports do not say which button went up.
    case 3: kind = .release
    case 64: kind = .wheelUp
    case 65: kind = .wheelDown
    default: return nil
    }
    return .mouse(MouseEvent(kind: kind, position: Position(row: row - 1, column: column - 1)))
  }

  // MARK: Keys

  /// The key of a character; nil if it has none.
  static func key(of scalar: Unicode.Scalar) -> KeyEvent? {
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

  private static func character(_ value: UInt32) -> Character {
    Character(Unicode.Scalar(value) ?? "?")
  }

  private static func key(_ sequence: Sequence) -> KeyEvent? {
    // kitty also tells when a key is held and released.
    guard sequence.number(1, 1) != 3 else { return nil }
    let number = sequence.number(0)
    switch sequence.final {
    case UInt8(ascii: "u"): return unicode(sequence)
    case UInt8(ascii: "~") where number == 27 && sequence.numbers.count == 3:
      let code = sequence.number(2)
      return character(code, shifted: code, Modifiers(parameter: sequence.number(1)))
    case UInt8(ascii: "~"): return numbered(number, Modifiers(parameter: sequence.number(1)))
    case UInt8(ascii: "^"): return numbered(number, .control)
    case UInt8(ascii: "@"): return numbered(number, [.control, .shift])
    case UInt8(ascii: "M"):
      // The reports of urxvt.
      guard sequence.numbers.count == 3 else { return nil }
      let (column, row) = (sequence.number(1), sequence.number(2))
      return mouse(button: number - 32, column: column, row: row, isPress: true)
    case UInt8(ascii: "a")...UInt8(ascii: "d") where sequence.numbers.isEmpty:
      return lettered(sequence.final - 0x20, .shift)
    default:
      // An old form has the modifiers alone.
      guard number <= 1 || sequence.numbers.count == 1 else { return nil }
      let parameter = number > 1 ? number : sequence.number(1)
      return lettered(sequence.final, Modifiers(parameter: parameter))
    }
  }

  /// The key of SS3: the keypad in application mode, and cursor and function keys.
  private static func single(_ bytes: [UInt8]) -> KeyEvent? {
    guard let sequence = Sequence(bytes) else { return nil }
    let modifiers = Modifiers(parameter: sequence.number(sequence.numbers.count - 1))
    switch sequence.final {
    case UInt8(ascii: "I"), UInt8(ascii: "M"), UInt8(ascii: " "), UInt8(ascii: "X"),
      UInt8(ascii: "j")...UInt8(ascii: "y"):
      guard let modifiers, !modifiers.contains(.control) else { return nil }
      // Each letter is 64 more than its character, except that of the equals sign.
      let code = sequence.final == UInt8(ascii: "X") ? UInt8(ascii: "=") : sequence.final & 0x3F
      return plain(Int(code), modifiers)
    // The arrows of rxvt with Control.
    case UInt8(ascii: "a")...UInt8(ascii: "d"): return lettered(sequence.final - 0x20, .control)
    default: return lettered(sequence.final, modifiers)
    }
  }

  private static func lettered(_ final: UInt8, _ modifiers: Modifiers?) -> KeyEvent? {
    let key: KeyEvent
    switch final {
    case UInt8(ascii: "A"): key = .up
    case UInt8(ascii: "B"): key = .down
    case UInt8(ascii: "C"): key = .right
    case UInt8(ascii: "D"): key = .left
    case UInt8(ascii: "H"): key = .home
    case UInt8(ascii: "F"): key = .end
    case UInt8(ascii: "P")...UInt8(ascii: "S"): key = .function(Int(final - UInt8(ascii: "O")))
    case UInt8(ascii: "Z"): return modifiers?.isSubset(of: .shift) == true ? .backTab : nil
    default: return nil
    }
    return modified(key, modifiers)
  }

  private static func numbered(_ number: Int, _ modifiers: Modifiers?) -> KeyEvent? {
    let key: KeyEvent
    switch number {
    case 1, 7: key = .home
    case 2: key = .insert
    case 3: key = .delete
    case 4, 8: key = .end
    case 5: key = .pageUp
    case 6: key = .pageDown
    case 11...15: key = .function(number - 10)
    case 17...21: key = .function(number - 11)
    case 23...26: key = .function(number - 12)
    case 28, 29: key = .function(number - 13)
    case 31...34: key = .function(number - 14)
    default: return nil
    }
    return modified(key, modifiers)
  }

  /// The key with modifiers; nil if the program has no name for it.
  ///
  /// The shift key makes no difference to a movement, since nothing is selected. Function keys
  /// count on, as xterm's description has it: F13 is F1 with Shift, F25 with Control.
  private static func modified(_ key: KeyEvent, _ modifiers: Modifiers?) -> KeyEvent? {
    guard let modifiers else { return nil }
    if modifiers.isEmpty { return key }
    switch key {
    case .function(let number) where number <= 12 && !modifiers.contains(.alt):
      return .function(number + 12 * (modifiers == .shift ? 1 : modifiers == .control ? 2 : 3))
    case .function, .insert, .delete: return modifiers == .alt ? .alt(key) : nil
    case .left where modifiers.subtracting(.shift) == .control: return .controlLeft
    case .right where modifiers.subtracting(.shift) == .control: return .controlRight
    case .up, .down, .left, .right, .home, .end, .pageUp, .pageDown:
      if modifiers.contains(.control) { return nil }
      return modifiers.contains(.alt) ? .alt(key) : key
    case .character, .control, .alt, .controlLeft, .controlRight, .backspace, .tab, .backTab,
      .enter, .escape, .paste, .mouse, .resize:
      return nil
    }
  }

  // MARK: Keys by their character

  /// The key of `CSI code:shifted:base;modifiers:event;text u`.
  private static func unicode(_ sequence: Sequence) -> KeyEvent? {
    let modifiers = Modifiers(parameter: sequence.number(1))
    var code = sequence.number(0)
    if sequence.numbers.count > 2, let modifiers, modifiers.isSubset(of: .shift) {
      // The terminal says which text the key types.
      let text = sequence.numbers[2].compactMap { UInt32(exactly: $0).flatMap(Unicode.Scalar.init) }
      guard let first = text.first, text.count == 1, first.value >= 0x20 else { return nil }
      return key(of: first)
    }
    // On a layout without Latin letters, the base layout has those of control keys.
    let base = sequence.number(0, 2)
    if code > 0x7F, base > 0, modifiers?.contains(.control) == true { code = base }
    return character(code, shifted: sequence.number(0, 1), modifiers)
  }

  /// The key that types a character, or that has a name in the protocol of kitty.
  ///
  /// The number of the character with Shift is 0 if the terminal does not say. Modifiers that mean
  /// nothing here are nil. Nil if the program has no name for the key.
  private static func character(
    _ code: Int,
    shifted: Int,
    _ modifiers: Modifiers?
  ) -> KeyEvent? {
    guard let modifiers else { return nil }
    switch code {
    case 9 where modifiers == .shift: return .backTab
    case 9, 27: return modifiers.contains(.control) ? nil : plain(code, modifiers)
    case 8, 13, 127: return plain(code, modifiers)
    case 57_399...57_416:
      let characters = Array("0123456789./*-+\r=,".utf8)
      return modifiers.contains(.control) ? nil : plain(Int(characters[code - 57_399]), modifiers)
    case 57_417...57_426:
      let keys: [KeyEvent] = [
        .left, .right, .up, .down, .pageUp, .pageDown, .home, .end, .insert, .delete,
      ]
      return modified(keys[code - 57_417], modifiers)
    case 57_376...57_398: return modified(.function(code - 57_376 + 13), modifiers)
    case 0xE000...0xF8FF: return nil
    case 0x20...0x7E where modifiers.contains(.control):
      guard let control = controlCode(code, modifiers) else { return nil }
      return plain(control, modifiers.intersection(.alt))
    case 0x20...: break
    default: return nil
    }
    guard !modifiers.contains(.control) else { return nil }
    guard modifiers.contains(.shift), code != shifted else { return plain(code, modifiers) }
    if shifted > 0 { return plain(shifted, modifiers) }
    // Without the layout, only letters and blanks have a known form with Shift.
    guard let scalar = Unicode.Scalar(UInt32(code)) else { return nil }
    let upper = scalar.properties.uppercaseMapping.unicodeScalars
    let isUnshifted = "0123456789`-=[]\\;',./".unicodeScalars.contains(scalar)
    return isUnshifted || upper.count != 1
      ? nil : plain(Int(upper[upper.startIndex].value), modifiers)
  }

  /// The byte that the control key makes of a character; nil if it makes none.
  private static func controlCode(_ code: Int, _ modifiers: Modifiers) -> Int? {
    switch code {
    case 0x20: 0
    case 0x2F: 0x1F
    case 0x61...0x7A where !modifiers.contains(.shift): code - 0x60
    case 0x40, 0x5B...0x5F: code - 0x40
    default: nil
    }
  }

  private static func plain(_ code: Int, _ modifiers: Modifiers) -> KeyEvent? {
    guard let scalar = UInt32(exactly: code).flatMap(Unicode.Scalar.init), let key = key(of: scalar)
    else { return nil }
    return modifiers.contains(.alt) ? .alt(key) : key
  }
}
