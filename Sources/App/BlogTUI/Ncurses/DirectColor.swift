import Glibc

/// Describes a terminal with 24-bit colours to ncurses as one.
///
/// ncurses believes terminfo, where nearly all terminals are `xterm-256color` or `tmux-256color`.
/// That they can do more stands in `COLORTERM`, or in the capabilities `Tc` and `RGB`. Instead of
/// other names, which few systems have, the entry of the terminal itself is handed to ncurses in
/// `TERMINFO`, with more colours and with the sequences for them. See term(5) for the layout of an
/// entry, and terminfo(5) for entries in variables.
enum DirectColor {
  /// The value of `TERMINFO` that describes a terminal of this type (`TERM`) with 24-bit colours.
  ///
  /// Nil if the terminal is not known to have them, or needs no help.
  static func description(of type: String, _ environment: (String) -> String?) -> String? {
    // A multiplexer that knows no such colours shows nonsense, whatever terminal is around it.
    if environment("STY") != nil { return nil }
    guard let bytes = entry(of: type, environment), let entry = TerminalEntry(bytes),
      (256...0x7FFF).contains(entry.colorCount)
    else { return nil }
    let isAnnounced = ["truecolor", "24bit"].contains(environment("COLORTERM") ?? "")
    guard isAnnounced || entry.hasFlag("Tc") || entry.hasFlag("RGB") else { return nil }
    let digits = Array("0123456789ABCDEF".utf8)
    let hexadecimal = entry.withDirectColor.flatMap {
      [digits[Int($0 >> 4)], digits[Int($0 & 15)]]
    }
    return "hex:" + String(decoding: hexadecimal, as: UTF8.self)
  }

  /// The bytes of the entry for a type; nil if it is in none of the usual places.
  private static func entry(of type: String, _ environment: (String) -> String?) -> [UInt8]? {
    guard let first = type.utf8.first, !type.contains("/"), !type.hasPrefix(".") else { return nil }
    var places = [environment("TERMINFO"), environment("HOME").map { $0 + "/.terminfo" }]
      .compactMap(\.self)
    places += (environment("TERMINFO_DIRS") ?? "").split(separator: ":").map(String.init)
    places += ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo"]
    for place in places where place.hasPrefix("/") {
      for folder in [String(type.prefix(1)), String(first, radix: 16)] {
        if let bytes = contents(of: "\(place)/\(folder)/\(type)") { return bytes }
      }
    }
    return nil
  }

  private static func contents(of path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: TerminalEntry.largest + 1)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 0, count <= TerminalEntry.largest else { return nil }
    return Array(bytes[..<count])
  }
}

/// A compiled entry of the terminal database.
///
/// Header, names, flags, numbers, offsets of strings, strings; then the same once more for the
/// capabilities that have no number of their own, followed by their names.
struct TerminalEntry {
  /// The largest entry that ncurses reads, in bytes.
  static let largest = 32_768

  private static let colors = 13
  private static let pairs = 14
  private static let canChange = 27
  private static let setForeground = 359
  private static let setBackground = 360
  private static let wideMagic = 0x021E
  private static let magic = 0x011A

  private let names: [UInt8]
  private var flags: [UInt8]
  private var numbers: [Int]
  private var offsets: [Int]
  private var strings: [UInt8]
  private var ownFlags: [UInt8] = []
  private var ownNumbers: [Int] = []
  private var ownOffsets: [Int] = []
  private var nameOffsets: [Int] = []
  private var ownStrings: [UInt8] = []
  /// Where the names begin in the strings that have no number of their own.
  private var nameStart = 0

  /// Reads an entry; nil if it is damaged.
  init?(_ bytes: [UInt8]) {
    var reader = Reader(bytes)
    guard let header = reader.numbers(6, width: 2),
      [Self.magic, Self.wideMagic].contains(header[0]), header.allSatisfy({ $0 >= 0 }),
      let names = reader.bytes(header[1]), let flags = reader.bytes(header[2])
    else { return nil }
    let width = header[0] == Self.wideMagic ? 4 : 2
    reader.align()
    guard let numbers = reader.numbers(header[3], width: width),
      let offsets = reader.numbers(header[4], width: 2), let strings = reader.bytes(header[5])
    else { return nil }
    (self.names, self.flags, self.numbers) = (names, flags, numbers)
    (self.offsets, self.strings) = (offsets, strings)
    reader.align()
    guard let own = reader.numbers(5, width: 2) else { return }
    guard own.allSatisfy({ $0 >= 0 }), let ownFlags = reader.bytes(own[0]) else { return nil }
    reader.align()
    guard let ownNumbers = reader.numbers(own[1], width: width),
      let ownOffsets = reader.numbers(own[2], width: 2),
      let nameOffsets = reader.numbers(own[0] + own[1] + own[2], width: 2),
      let ownStrings = reader.bytes(own[4])
    else { return nil }
    (self.ownFlags, self.ownNumbers, self.ownOffsets) = (ownFlags, ownNumbers, ownOffsets)
    (self.nameOffsets, self.ownStrings) = (nameOffsets, ownStrings)
    for offset in ownOffsets where offset >= 0 {
      guard let end = ownStrings.dropFirst(offset).firstIndex(of: 0) else { return nil }
      nameStart = max(nameStart, end + 1)
    }
  }

  /// The number of colours; 0 if there are none.
  var colorCount: Int { numbers.count > Self.colors ? max(0, numbers[Self.colors]) : 0 }

  /// Whether the entry has a flag with that name among those without a number of their own.
  func hasFlag(_ name: String) -> Bool {
    zip(ownFlags, nameOffsets).contains { flag, offset in
      let text = ownStrings.dropFirst(nameStart + max(0, offset)).prefix { $0 != 0 }
      return flag == 1 && offset >= 0 && text.elementsEqual(name.utf8)
    }
  }

  /// The entry of a terminal that is the same, and has 24-bit colours.
  ///
  /// The first eight numbers stay the basic colours, as in the entries `xterm-direct` and the like.
  var withDirectColor: [UInt8] {
    var entry = self
    entry.flags += [UInt8](repeating: 0, count: max(0, Self.canChange + 1 - flags.count))
    entry.flags[Self.canChange] = 0
    entry.numbers += [Int](repeating: -1, count: max(0, Self.pairs + 1 - numbers.count))
    entry.numbers[Self.colors] = 1 << 24
    entry.numbers[Self.pairs] = 1 << 16
    entry.offsets += [Int](repeating: -1, count: max(0, Self.setBackground + 1 - offsets.count))
    for (capability, digit) in [(Self.setForeground, 3), (Self.setBackground, 4)] {
      entry.offsets[capability] = entry.strings.count
      entry.strings +=
        "\u{1B}[%?%p1%{8}%<%t\(digit)%p1%d%e\(digit)8;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m\0"
        .utf8
    }
    if !hasFlag("RGB") {
      entry.nameOffsets.insert(ownStrings.count - nameStart, at: ownFlags.count)
      entry.ownFlags.append(1)
      entry.ownStrings += "RGB\0".utf8
    }
    return entry.bytes
  }

  private var bytes: [UInt8] {
    var writer = Writer()
    writer.add(
      [Self.wideMagic, names.count, flags.count, numbers.count, offsets.count, strings.count],
      width: 2
    )
    writer.bytes += names + flags
    writer.align()
    writer.add(numbers, width: 4)
    writer.add(offsets, width: 2)
    writer.bytes += strings
    writer.align()
    let texts = ownOffsets.count + nameOffsets.count
    writer.add(
      [ownFlags.count, ownNumbers.count, ownOffsets.count, texts, ownStrings.count],
      width: 2
    )
    writer.bytes += ownFlags
    writer.align()
    writer.add(ownNumbers, width: 4)
    writer.add(ownOffsets + nameOffsets, width: 2)
    writer.bytes += ownStrings
    return writer.bytes
  }

  private struct Reader {
    private let all: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
      all = bytes
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
      guard count >= 0, all.count - position >= count else { return nil }
      defer { position += count }
      return Array(all[position..<position + count])
    }

    /// Numbers with a sign, the lowest byte first.
    mutating func numbers(_ count: Int, width: Int) -> [Int]? {
      guard let bytes = bytes(count * width) else { return nil }
      return (0..<count).map { index in
        let number = bytes[index * width..<(index + 1) * width].reversed()
          .reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return width == 2
          ? Int(Int16(truncatingIfNeeded: number)) : Int(Int32(bitPattern: number))
      }
    }

    mutating func align() {
      position += position & 1
    }
  }

  private struct Writer {
    var bytes: [UInt8] = []

    mutating func add(_ numbers: [Int], width: Int) {
      for number in numbers {
        bytes += (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
      }
    }

    mutating func align() {
      if bytes.count & 1 == 1 { bytes.append(0) }
    }
  }
}
