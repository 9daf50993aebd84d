import Foundation

/// A terminal in memory, which takes the bytes that a program writes and keeps what they show.
///
/// It understands what ncurses programs write to a vt220, to xterm and to its relatives. Everything
/// else is one of the ``offences``: bytes that should never have left the program.
package struct VirtualTerminal {
  /// One cell; the right half of a wide character is empty.
  package struct Cell: Equatable, Sendable {
    /// The text in the cell.
    package var text = " "
    /// The style of the text.
    package var pen = Pen()
    /// The address of the link that the cell belongs to, if any.
    package var link: String?

    /// Creates a cell.
    package init(text: String = " ", pen: Pen = Pen(), link: String? = nil) {
      self.text = text
      self.pen = pen
      self.link = link
    }
  }

  private enum State {
    case ground
    case escape
    case designator
    case control(String)
    case string(String)
    case stringEscape(String)
  }

  let width: Int
  let height: Int
  /// The cells on the screen, by row.
  package private(set) var cells: [[Cell]]
  /// Output that no program should produce.
  package private(set) var offences: [String] = []
  /// Whether it draws joined emoji in two cells, as newer terminals do.
  package var joinsEmoji = false
  /// Its answers to requests for the position of the cursor.
  package private(set) var answers = ""
  /// Strings written outside the cells: titles, notifications, the clipboard.
  package private(set) var strings: [String] = []

  private var row = 0
  private var column = 0
  private var pen = Pen()
  private var wraps = false
  private var isGraphic = [false, false]
  private var shifted = 0
  private var saved = (row: 0, column: 0, pen: Pen())
  private var link: String?
  private var region: ClosedRange<Int>
  private var state = State.ground
  private var rest: [UInt8] = []
  private var last = " "

  /// Creates a blank terminal.
  package init(width: Int = 80, height: Int = 24) {
    self.width = width
    self.height = height
    cells = Array(repeating: Array(repeating: Cell(), count: width), count: height)
    region = 0...(height - 1)
  }

  /// The rows as text, without trailing blanks.
  package var lines: [String] { cells.map(Self.line) }

  /// One row as text, without trailing blanks.
  package static func line(_ cells: [Cell]) -> String {
    var text = cells.map(\.text).joined()
    while text.last == " " { text.removeLast() }
    return text
  }

  /// Takes bytes, which may end in the middle of a character or a sequence.
  package mutating func take(_ bytes: some Sequence<UInt8>) {
    rest += bytes
    var start = 0
    while start < rest.count {
      let length = Self.length(rest[start])
      guard start + length <= rest.count else { break }
      let text = String(decoding: rest[start..<(start + length)], as: UTF8.self)
      if text.unicodeScalars.contains("\u{FFFD}"), rest[start] != 0xEF {
        offences.append("byte \(rest[start])")
      }
      for scalar in text.unicodeScalars { take(scalar) }
      start += length
    }
    rest.removeFirst(start)
  }

  private static func length(_ byte: UInt8) -> Int {
    switch byte {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }

  private mutating func take(_ scalar: Unicode.Scalar) {
    if (0x80...0x9F).contains(scalar.value) {
      offences.append("C1 control \(String(scalar.value, radix: 16))")
      return
    }
    switch state {
    case .ground: ground(scalar)
    case .escape: escape(scalar)
    case .designator: designate(scalar)
    case .control(let text): control(text, scalar)
    case .string(let text): string(text, scalar)
    case .stringEscape(let text):
      if scalar != "\\" { offences.append("ESC in a string") }
      end(text)
      state = .ground
    }
  }

  private mutating func ground(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    case 0x1B: state = .escape
    case 0x07: break
    case 0x08: (column, wraps) = (max(0, column - 1), false)
    case 0x09: (column, wraps) = (min(width - 1, (column / 8 + 1) * 8), false)
    case 0x0A: down()
    case 0x0D: (column, wraps) = (0, false)
    case 0x0E: shifted = 1
    case 0x0F: shifted = 0
    case 0x00...0x1F, 0x7F: offences.append("control \(String(scalar.value, radix: 16))")
    default: put(scalar)
    }
  }

  private mutating func down() {
    wraps = false
    if row == region.upperBound { scroll(region, by: 1) } else { row = min(height - 1, row + 1) }
  }

  private mutating func escape(_ scalar: Unicode.Scalar) {
    state = .ground
    switch scalar {
    case "[": state = .control("")
    case "]": state = .string("")
    case "(", ")":
      shiftedDesignator = scalar == "(" ? 0 : 1
      state = .designator
    case "7": saved = (row, column, pen)
    case "8": (row, column, pen, wraps) = (saved.row, saved.column, saved.pen, false)
    case "M": if row == region.lowerBound { scroll(region, by: -1) } else { row = max(0, row - 1) }
    case "D": down()
    case "E":
      down()
      column = 0
    case "=", ">", "\\": break
    default: offences.append("ESC \(scalar)")
    }
  }

  private var shiftedDesignator = 0

  private mutating func designate(_ scalar: Unicode.Scalar) {
    isGraphic[shiftedDesignator] = scalar == "0"
    if scalar != "0", scalar != "B" { offences.append("character set \(scalar)") }
    state = .ground
  }

  private mutating func string(_ text: String, _ scalar: Unicode.Scalar) {
    switch scalar.value {
    case 0x07:
      end(text)
      state = .ground
    case 0x1B: state = .stringEscape(text)
    case 0x00...0x1F, 0x7F: offences.append("control in a string")
    default:
      var longer = text
      longer.unicodeScalars.append(scalar)
      state = .string(longer)
    }
  }

  /// Starts or ends a link, or keeps another string.
  private mutating func end(_ text: String) {
    guard text.hasPrefix("8;") else { return strings.append(text) }
    let parts = text.split(separator: ";", maxSplits: 2, omittingEmptySubsequences: false)
    if parts.count < 3 { offences.append("OSC \(text)") }
    link = parts.count == 3 && !parts[2].isEmpty ? String(parts[2]) : nil
  }

  /// Whether a scalar joins the emoji before it, which then takes two cells.
  private mutating func joins(_ scalar: Unicode.Scalar) -> Bool {
    var place = wraps ? column : column - 1
    while place > 0, cells[row][place].text.isEmpty { place -= 1 }
    guard joinsEmoji, place >= 0, place + 1 < width,
      cells[row][place].text.unicodeScalars.first?.properties.isEmoji == true,
      cells[row][place].text.unicodeScalars.last == "\u{200D}" || scalar == "\u{FE0F}"
        || scalar.properties.isEmojiModifier
    else { return false }
    cells[row][place].text.unicodeScalars.append(scalar)
    cells[row][place + 1] = Cell(text: "", pen: pen, link: link)
    column = min(width - 1, place + 2)
    wraps = place + 2 >= width
    return true
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    if joins(scalar) { return }
    let cells = Self.width(scalar)
    guard cells > 0 else {
      if cells < 0 { offences.append("a character of unknown width, \(scalar.value)") }
      return addMark(scalar)
    }
    if wraps || column + cells > width {
      column = 0
      down()
    }
    let graphic = isGraphic[shifted] ? Self.graphics[scalar] : nil
    last = String(Character(graphic ?? scalar))
    self.cells[row][column] = Cell(text: last, pen: pen, link: link)
    if cells == 2 { self.cells[row][column + 1] = Cell(text: "", pen: pen, link: link) }
    column += cells
    wraps = column >= width
    column = min(column, width - 1)
  }

  private mutating func addMark(_ scalar: Unicode.Scalar) {
    var place = wraps ? column : column - 1
    while place > 0, cells[row][place].text.isEmpty { place -= 1 }
    guard place >= 0 else { return }
    cells[row][place].text.unicodeScalars.append(scalar)
  }

  private static let graphics: [Unicode.Scalar: Unicode.Scalar] = [
    "q": "─", "x": "│", "l": "┌", "k": "┐", "m": "└", "j": "┘", "t": "├", "u": "┤", "a": "▒",
    "`": "◆", "~": "·", "f": "°", "g": "±", "n": "┼", "v": "┴", "w": "┬", "0": "█",
  ]

  /// The width according to the C library, which ncurses and other terminals also use.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    if scalar.isASCII { return 1 }
    return Int(wideCharacterWidth?(Int32(scalar.value)) ?? 1)
  }

  /// The C library's header declares this function only for other standards than the one in use.
  private static let wideCharacterWidth: (@convention(c) @Sendable (Int32) -> Int32)? = {
    setlocale(LC_CTYPE, "C.UTF-8")
    return dlsym(nil, "wcwidth").map {
      unsafeBitCast($0, to: (@convention(c) @Sendable (Int32) -> Int32).self)
    }
  }()
}

// MARK: Control sequences

extension VirtualTerminal {
  private mutating func control(_ text: String, _ scalar: Unicode.Scalar) {
    guard (0x40...0x7E).contains(scalar.value) else {
      if scalar.value < 0x20 { offences.append("control in a sequence") }
      state = .control(text + String(Character(scalar)))
      return
    }
    state = .ground
    if scalar == "m", text.first != "?", text.first != ">" { return pen.apply(text) }
    if text.first == "?" || text.first == ">" || text.contains("$") || text.contains("!") {
      return mode(text, scalar)
    }
    let numbers = text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    perform(scalar, numbers)
  }

  private mutating func mode(_ text: String, _ final: Unicode.Scalar) {
    if !"hlpcqu".unicodeScalars.contains(final) { offences.append("CSI \(text)\(final)") }
  }

  private mutating func perform(_ final: Unicode.Scalar, _ numbers: [Int]) {
    let first = max(1, numbers.first ?? 1)
    wraps = false
    switch final {
    case "A": row = max(0, row - first)
    case "B": row = min(height - 1, row + first)
    case "C": column = min(width - 1, column + first)
    case "D": column = max(0, column - first)
    case "G": column = min(width, first) - 1
    case "d": row = min(height, first) - 1
    case "H", "f":
      row = min(height, first) - 1
      column = min(width, max(1, numbers.count > 1 ? numbers[1] : 1)) - 1
    case "J": eraseScreen(numbers.first ?? 0)
    case "K": eraseLine(numbers.first ?? 0)
    case "X": blank(column..<min(width, column + first))
    case "P":
      cells[row].removeSubrange(column..<min(width, column + first))
      cells[row] += blanks(width - cells[row].count)
    case "@":
      cells[row].insert(contentsOf: blanks(first), at: column)
      cells[row].removeLast(cells[row].count - width)
    case "L": scroll(row...region.upperBound, by: -first)
    case "M": scroll(row...region.upperBound, by: first)
    case "S": scroll(region, by: first)
    case "T": scroll(region, by: -first)
    case "b": for _ in 0..<first { for scalar in last.unicodeScalars { put(scalar) } }
    case "r":
      let bottom = numbers.count > 1 && numbers[1] > 0 ? numbers[1] : height
      region = (first - 1)...max(first - 1, min(height, bottom) - 1)
      (row, column) = (0, 0)
    case "Z": column = max(0, (column - 1) / 8 * 8)
    case "n" where numbers == [6]: answers += "\u{1B}[\(row + 1);\(column + 1)R"
    case "h", "l", "t", "n", "i": break
    default: offences.append("CSI \(numbers)\(final)")
    }
  }

  private func blanks(_ count: Int) -> [Cell] {
    Array(repeating: Cell(text: " ", pen: pen.erased), count: max(0, count))
  }

  private mutating func blank(_ columns: Range<Int>) {
    cells[row].replaceSubrange(columns, with: blanks(columns.count))
  }

  private mutating func eraseLine(_ part: Int) {
    switch part {
    case 0: blank(column..<width)
    case 1: blank(0..<(column + 1))
    default: blank(0..<width)
    }
  }

  private mutating func eraseScreen(_ part: Int) {
    if part == 0 { eraseLine(0) }
    let rows = part == 0 ? (row + 1)..<height : part == 1 ? 0..<row : 0..<height
    for row in rows { cells[row] = blanks(width) }
  }

  private mutating func scroll(_ rows: ClosedRange<Int>, by count: Int) {
    var part = Array(cells[rows])
    let moved = min(abs(count), part.count)
    let new = Array(repeating: blanks(width), count: moved)
    part = count > 0 ? Array(part.dropFirst(moved)) + new : new + part.dropLast(moved)
    cells.replaceSubrange(rows, with: part)
  }
}
