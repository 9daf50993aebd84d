internal import Foundation

/// The few ASN.1 types that a certificate consists of, in DER encoding.
enum DER {
  static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap(\.self)) }

  static func set(_ part: [UInt8]) -> [UInt8] { value(0x31, part) }

  static func integer(_ bytes: [UInt8]) -> [UInt8] { value(0x02, bytes) }

  static func boolean(_ isTrue: Bool) -> [UInt8] { value(0x01, [isTrue ? 0xFF : 0]) }

  static func text(_ text: String) -> [UInt8] { value(0x0C, Array(text.utf8)) }

  static func octets(_ bytes: [UInt8]) -> [UInt8] { value(0x04, bytes) }

  /// A bit string; the last `unused` bits do not count.
  static func bits(_ bytes: [UInt8], unused: UInt8 = 0) -> [UInt8] { value(0x03, [unused] + bytes) }

  /// A component with a context-specific tag.
  static func tagged(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] { value(0xA0 | number, bytes) }

  /// The start of a year; from 2050 on, the encoding is different.
  static func year(_ year: Int) -> [UInt8] {
    let rest = "0101000000Z"
    return year < 2_050
      ? value(0x17, Array("\(year % 100 < 10 ? "0" : "")\(year % 100)\(rest)".utf8))
      : value(0x18, Array("\(year)\(rest)".utf8))
  }

  static func identifier(_ numbers: Int...) -> [UInt8] {
    var bytes = [UInt8(numbers[0] * 40 + numbers[1])]
    for number in numbers.dropFirst(2) {
      var septets = [UInt8(number & 0x7F)]
      var rest = number >> 7
      while rest > 0 {
        septets.append(UInt8(rest & 0x7F) | 0x80)
        rest >>= 7
      }
      bytes += septets.reversed()
    }
    return value(0x06, bytes)
  }

  /// A tag, the length and the bytes.
  static func value(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    switch bytes.count {
    case ..<0x80: [tag, UInt8(bytes.count)] + bytes
    case ..<0x100: [tag, 0x81, UInt8(bytes.count)] + bytes
    default: [tag, 0x82, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }
  }

  /// The text form of a value: PEM.
  static func text(of value: [UInt8], named name: String) -> String {
    let text = Data(value)
      .base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN \(name)-----\n\(text)\n-----END \(name)-----\n"
  }
}
