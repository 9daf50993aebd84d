/// What a terminal has sent, once it is complete.
package enum InputEvent: Hashable, Sendable {
  /// A key, a paste or the mouse.
  case key(KeyEvent)
  /// Escape with a key right behind it: Alt with that key, or two keys.
  case escaped(KeyEvent)
  /// The reply about synchronized output: whether the terminal can show whole frames at once.
  case canSynchronize(Bool)
  /// The reply about the colour of the background: whether it is light.
  case background(isLight: Bool)
  /// The reply about the position of the cursor, counted from 1.
  case cursor(row: Int, column: Int)
  /// Bytes that no character can be made of.
  case unreadable(UnreadableInput)
}

/// Splits the bytes of a terminal by the grammar of ECMA-48, and names the keys among them.
///
/// The grammar comes before any table: a sequence that is complete and unknown yields nothing, so
/// that none of its bytes can act as a key. A sequence that stays incomplete is bounded in bytes
/// and, by ``patience`` and ``timeOut()``, in time. Pastes end with their mark alone.
///
/// States: ground → (ESC) → escape → sequence, string or ground; sequence → mouse report or paste
/// → ground. The parser takes bytes one at a time, so it does not matter how they are cut.
package struct InputParser: Sendable {
  private enum State: Hashable {
    /// Between characters, or inside one.
    case ground
    case escape
    /// After CSI.
    case control
    /// After SS3.
    case single
    /// After `CSI [`, with which the Linux console begins five function keys.
    case console
    /// In a mouse report of the old kind, whose values follow the sequence.
    case mouse
    /// In OSC, DCS, APC, SOS or PM.
    case string
    case stringEscape
    /// In a paste, with that many bytes of its end mark.
    case paste(mark: Int)
  }

  /// The largest number of bytes in a sequence.
  static let sequenceLimit = 4_096
  /// The largest number of bytes in a string.
  static let stringLimit = 1 << 20
  /// How much of a string is looked at: a reply is short.
  private static let contentLimit = 64
  /// How long a sequence waits for its next byte.
  static let sequencePatience = Duration.seconds(1)
  /// How long the two bytes that begin a sequence wait before they are taken for keys.
  static let introducerPatience = Duration.milliseconds(100)

  private static let escapeByte: UInt8 = 0x1B
  private static let pasteEnd = Array("\u{1B}[201~".utf8)
  private static let pasteStart = Array("\u{1B}[200~".utf8)

  /// The keys that the description of this type of terminal names, by their sequences.
  private let described: [[UInt8]: KeyEvent]
  /// How long an escape waits for what may belong to it.
  private let escapeDelay: Duration
  private var state = State.ground
  /// Whether an escape came right before what is being read.
  private var isEscaped = false
  /// The sequence so far, from its escape.
  private var bytes: [UInt8] = []
  /// The number of bytes in the string so far.
  private var count = 0
  /// The beginning of the string so far, after its introducer.
  private var content: [UInt8] = []
  /// The values of a mouse report so far.
  private var values: [Int] = []
  private var assembler: ScalarAssembler
  private var paste = PasteBuffer()
  /// What the bytes have completed so far.
  private var events: [InputEvent] = []

  /// Makes a parser; of bytes that are not UTF-8, it understands only ASCII.
  package init(
    isUTF8: Bool = true,
    described: [[UInt8]: KeyEvent] = [:],
    escapeDelay: Duration = .milliseconds(25)
  ) {
    self.described = described
    self.escapeDelay = escapeDelay
    assembler = ScalarAssembler(isUTF8: isUTF8)
  }

  /// How long to wait for the next byte before calling ``timeOut()``; nil waits for ever.
  package var patience: Duration? {
    switch state {
    case .ground: assembler.isIncomplete ? Self.sequencePatience : nil
    case .escape: escapeDelay
    case .control, .single, .string:
      isIntroducer ? max(escapeDelay, Self.introducerPatience) : Self.sequencePatience
    case .console, .mouse, .stringEscape: Self.sequencePatience
    case .paste: nil
    }
  }

  /// Takes bytes and returns what they complete.
  package mutating func take(_ bytes: some Sequence<UInt8>) -> [InputEvent] {
    defer { events = [] }
    for byte in bytes { take(byte) }
    return events
  }

  /// Ends what has waited too long for its next byte.
  package mutating func timeOut() -> [InputEvent] {
    defer { events = [] }
    switch state {
    case .paste: return []
    case .escape, .stringEscape: events.append(.key(.escape))
    case .control, .single, .string:
      guard isIntroducer, let last = bytes.last else { break }
      if isEscaped { events.append(.key(.escape)) }
      isEscaped = false
      events.append(.escaped(.character(Character(Unicode.Scalar(last)))))
    case .ground, .console, .mouse: break
    }
    giveUp()
    return events
  }

  /// Whether only an escape and the byte that makes it an introducer have been read.
  private var isIntroducer: Bool { bytes.count == 2 && count == 0 && bytes[0] == Self.escapeByte }

  private mutating func take(_ byte: UInt8) {
    switch state {
    case .ground: takePlain(byte)
    case .escape: takeAfterEscape(byte)
    case .control: takeControl(byte)
    case .single: takeSingle(byte)
    case .console: takeConsole(byte)
    case .mouse: takeMouse(byte)
    case .string: takeString(byte)
    case .stringEscape:
      // The string terminator, or the start of something else.
      guard byte != UInt8(ascii: "\\") else { return finishString() }
      giveUp()
      state = .escape
      takeAfterEscape(byte)
    case .paste(let mark): takePasted(byte, mark: mark)
    }
  }

  /// Drops an unfinished sequence, except an escape before it, which is a key by itself.
  ///
  /// A character that is cut off was meant to be text, and is reported.
  private mutating func giveUp() {
    if isEscaped { events.append(.key(.escape)) }
    if assembler.isIncomplete { events.append(.unreadable(assembler.problem)) }
    isEscaped = false
    state = .ground
    bytes = []
    values = []
    content = []
    count = 0
    assembler.reset()
  }

  /// Drops an unfinished sequence because of a byte that cannot belong to it, and reads that byte.
  private mutating func interrupt(with byte: UInt8) {
    giveUp()
    takePlain(byte)
  }

  private mutating func deliver(_ key: KeyEvent) {
    events.append(isEscaped ? .escaped(key) : .key(key))
    isEscaped = false
    giveUp()
  }
}

// MARK: Characters

extension InputParser {
  private mutating func takePlain(_ byte: UInt8) {
    // A character that is cut off ends here.
    if assembler.isIncomplete, byte & 0xC0 != 0x80 { giveUp() }
    if byte == Self.escapeByte {
      if isEscaped { giveUp() }
      state = .escape
      return
    }
    let step = assembler.append(byte)
    if step.isMalformed {
      giveUp()
      events.append(.unreadable(assembler.problem))
    }
    guard let scalar = step.scalar else { return }
    if (0x80...0x9F).contains(scalar.value) {
      begin(with: UInt8(scalar.value - 0x40), isTwoBytes: false)
    } else if let key = TerminalKeys.key(of: scalar) {
      deliver(key)
    } else {
      giveUp()
    }
  }

  private mutating func takeAfterEscape(_ byte: UInt8) {
    if byte == Self.escapeByte {
      if isEscaped { events.append(.key(.escape)) }
      isEscaped = true
      return
    }
    if let key = described[[Self.escapeByte, byte]] { return deliver(key) }
    if Self.introduces(byte) { return begin(with: byte, isTwoBytes: true) }
    if isEscaped { events.append(.key(.escape)) }
    isEscaped = true
    state = .ground
    takePlain(byte)
  }

  private static func introduces(_ byte: UInt8) -> Bool { "[OP]X^_".utf8.contains(byte) }

  /// Begins a sequence or a string; the byte is the second of its introducer.
  private mutating func begin(with byte: UInt8, isTwoBytes: Bool) {
    guard Self.introduces(byte) else { return giveUp() }
    bytes = [Self.escapeByte, byte]
    // Only two bytes can also be two keys.
    count = isTwoBytes ? 0 : 1
    switch byte {
    case UInt8(ascii: "["): state = .control
    case UInt8(ascii: "O"): state = .single
    default: state = .string
    }
  }
}

// MARK: Sequences

extension InputParser {
  private mutating func takeControl(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "[") where bytes.count == 2:
      bytes.append(byte)
      state = .console
    case UInt8(ascii: "$") where TerminalKeys.isShiftedNumber(bytes.dropFirst(2)):
      // The byte is not a final one, but rxvt ends its keys with it.
      finish(byte)
    case 0x20...0x3F:
      bytes.append(byte)
      if bytes.count > Self.sequenceLimit { giveUp() }
    case 0x40...0x7E: finish(byte)
    default: interrupt(with: byte)
    }
  }

  private mutating func takeSingle(_ byte: UInt8) {
    switch byte {
    case 0x30...0x3B:
      bytes.append(byte)
      if bytes.count > Self.sequenceLimit { giveUp() }
    case 0x20, 0x40...0x7E: finish(byte)
    default: interrupt(with: byte)
    }
  }

  private mutating func takeConsole(_ byte: UInt8) {
    if (0x20...0x7E).contains(byte) {
      finish(byte)
    } else {
      interrupt(with: byte)
    }
  }

  private mutating func finish(_ byte: UInt8) {
    bytes.append(byte)
    if let key = described[bytes] { return deliver(key) }
    if bytes == Self.pasteStart {
      giveUp()
      return state = .paste(mark: 0)
    }
    if bytes == Array("\u{1B}[M".utf8) { return state = .mouse }
    switch TerminalKeys.event(of: bytes) {
    case .key(.mouse(let event))?:
      giveUp()
      events.append(.key(.mouse(event)))
    case .key(let key)?: deliver(key)
    case let reply?:
      giveUp()
      events.append(reply)
    case nil: giveUp()
    }
  }

  /// Reads the three values of an old mouse report: bytes, or characters where a value is large.
  private mutating func takeMouse(_ byte: UInt8) {
    guard byte == 0 || byte >= 0x20 else { return interrupt(with: byte) }
    if (0x80...0xBF).contains(byte), let lead = openValue {
      values[values.count - 1] = (lead & 0x1F) << 6 | Int(byte & 0x3F)
    } else if values.count < 3 {
      values.append(Int(byte))
    } else {
      // The last value was a byte and not the first half of a character.
      finishMouse()
      return takePlain(byte)
    }
    if values.count == 3, openValue == nil { finishMouse() }
  }

  /// The last value of a mouse report if it may be the first half of a character.
  private var openValue: Int? {
    guard values.count > 1, let last = values.last, (0xC2...0xDF).contains(last) else { return nil }
    return last
  }

  private mutating func finishMouse() {
    let report = values.map { $0 - 32 }
    giveUp()
    let event = TerminalKeys.mouse(
      button: report[0],
      column: report[1],
      row: report[2],
      isPress: true
    )
    if let event { events.append(.key(event)) }
  }

  private mutating func takeString(_ byte: UInt8) {
    switch byte {
    case Self.escapeByte: state = .stringEscape
    case 0x07: finishString()
    case 0x00..<0x08, 0x0E..<0x20: interrupt(with: byte)
    case 0x9C where bytes.last == 0xC2:
      // The first half of the terminator.
      if content.count < Self.contentLimit { content.removeLast() }
      finishString()
    default:
      if content.isEmpty { content = [bytes[1]] }
      if content.count < Self.contentLimit { content.append(byte) }
      bytes[1] = byte
      count += 1
      if count > Self.stringLimit { giveUp() }
    }
  }

  private mutating func finishString() {
    let reply = TerminalKeys.reply(ofString: content)
    giveUp()
    if let reply { events.append(reply) }
  }

  private mutating func takePasted(_ byte: UInt8, mark: Int) {
    if byte == Self.pasteEnd[mark] {
      guard mark + 1 == Self.pasteEnd.count else { return state = .paste(mark: mark + 1) }
      if assembler.isIncomplete { paste.appendUnreadable() }
      assembler.reset()
      if paste.hasUnreadable { events.append(.unreadable(assembler.problem)) }
      events.append(.key(.paste(paste.text)))
      paste = PasteBuffer()
      return giveUp()
    }
    for held in Self.pasteEnd[..<mark] { addPasted(held) }
    state = .paste(mark: byte == Self.escapeByte ? 1 : 0)
    if byte != Self.escapeByte { addPasted(byte) }
  }

  private mutating func addPasted(_ byte: UInt8) {
    let step = assembler.append(byte)
    if step.isMalformed { paste.appendUnreadable() }
    if let scalar = step.scalar { paste.append(scalar) }
  }
}

/// Pasted text, from the mark at its start to the mark at its end.
struct PasteBuffer: Sendable {
  /// The largest number of scalars in one paste; any further ones are dropped.
  static let limit = 1 << 20

  private(set) var text = ""
  /// Whether it had bytes that no character can be made of.
  private(set) var hasUnreadable = false
  private var count = 0

  mutating func append(_ scalar: Unicode.Scalar) {
    guard count < Self.limit else { return }
    text.unicodeScalars.append(scalar)
    count += 1
  }

  /// Marks where bytes are missing that no character can be made of.
  mutating func appendUnreadable() {
    hasUnreadable = true
    append("\u{FFFD}")
  }
}

/// Assembles characters from bytes that arrive one by one.
struct ScalarAssembler: Sendable {
  /// What a byte completes.
  struct Step: Hashable, Sendable {
    /// Whether it ends bytes that are not a character.
    var isMalformed = false
    /// The character, if any, after those bytes.
    var scalar: Unicode.Scalar?
  }

  private let isUTF8: Bool
  private var value: UInt32 = 0
  private var missing = 0
  private var least: UInt32 = 0

  /// Makes an assembler; without UTF-8 it accepts only ASCII.
  init(isUTF8: Bool) {
    self.isUTF8 = isUTF8
  }

  /// Whether a character has begun and is not complete.
  var isIncomplete: Bool { missing > 0 }

  /// Forgets the beginning of a character.
  mutating func reset() {
    missing = 0
  }

  /// Why bytes are malformed.
  var problem: UnreadableInput { isUTF8 ? .notUTF8 : .notASCII }

  /// Takes a byte and returns what it completes.
  mutating func append(_ byte: UInt8) -> Step {
    var step = Step()
    if missing > 0, byte & 0xC0 != 0x80 {
      missing = 0
      step.isMalformed = true
    }
    switch byte {
    case 0x00...0x7F: step.scalar = Unicode.Scalar(byte)
    case _ where !isUTF8: step.isMalformed = true
    case 0xC2...0xDF: begin(byte & 0x1F, missing: 1, least: 0x80)
    case 0xE0...0xEF: begin(byte & 0x0F, missing: 2, least: 0x800)
    case 0xF0...0xF4: begin(byte & 0x07, missing: 3, least: 0x10000)
    case 0x80...0xBF where missing > 0:
      value = value << 6 | UInt32(byte & 0x3F)
      missing -= 1
      guard missing == 0 else { break }
      step.scalar = value >= least ? Unicode.Scalar(value) : nil
      step.isMalformed = step.scalar == nil
    default: step.isMalformed = true
    }
    return step
  }

  private mutating func begin(_ bits: UInt8, missing: Int, least: UInt32) {
    value = UInt32(bits)
    self.missing = missing
    self.least = least
  }
}
