/// Writes JSON text into a buffer of bytes.
package struct JSONWriter: Sendable {
  /// The UTF-8 written so far.
  package private(set) var bytes: [UInt8] = []

  /// Makes a writer with an empty buffer.
  package init() {}

  /// The text written so far.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Writes bytes that are JSON already, such as brackets, commas or an encoded value.
  package mutating func raw(_ text: StaticString) {
    text.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Writes bytes that are JSON already.
  package mutating func raw(_ encoded: [UInt8]) {
    bytes.append(contentsOf: encoded)
  }

  /// Writes a whole number.
  package mutating func write(_ value: Int64) {
    bytes.append(contentsOf: String(value).utf8)
  }

  /// Writes a finite number, the shortest text that reads back the same.
  ///
  /// Whole numbers within 64 bits have neither point nor exponent. Those beyond have an exponent:
  /// there are clients that refuse longer integers.
  package mutating func write(_ value: Double) {
    if let whole = Int64(exactly: value) {
      write(whole)
    } else if !value.isFinite {
      raw("null")
    } else {
      bytes.append(contentsOf: value.description.utf8)
    }
  }

  /// Writes a string in quotes, escaping what JSON demands.
  package mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { source in
      var start = 0
      for index in 0..<source.count {
        let byte = source[index]
        guard byte < 0x20 || byte == 0x22 || byte == 0x5C else { continue }
        bytes.append(contentsOf: source[start..<index])
        escape(byte)
        start = index + 1
      }
      bytes.append(contentsOf: source[start...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a whole value.
  ///
  /// - Complexity: O(size)
  package mutating func write(_ value: JSONValue) {
    switch value {
    case .null: raw("null")
    case .bool(let value): value ? raw("true") : raw("false")
    case .integer(let value): write(value)
    case .double(let value): write(value)
    case .string(let text): write(text)
    case .array(let elements):
      raw("[")
      for (index, element) in elements.enumerated() {
        if index > 0 { raw(",") }
        write(element)
      }
      raw("]")
    case .object(let members):
      raw("{")
      for (index, member) in members.enumerated() {
        if index > 0 { raw(",") }
        write(member.name)
        raw(":")
        write(member.value)
      }
      raw("}")
    }
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case 0x22: raw("\\\"")
    case 0x5C: raw("\\\\")
    case 0x0A: raw("\\n")
    case 0x0D: raw("\\r")
    case 0x09: raw("\\t")
    default:
      raw("\\u00")
      bytes.append(Self.hexDigits[Int(byte >> 4)])
      bytes.append(Self.hexDigits[Int(byte & 15)])
    }
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)
}
