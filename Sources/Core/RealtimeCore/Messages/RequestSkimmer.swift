/// Finds the number of a request in a message that is too long to be kept, while it passes by.
///
/// Only as much of JSON is looked at as it takes: members of the outer object named "d", and in those
/// a member "r".
package struct RequestSkimmer: Sendable {
  /// The number, once it has come.
  package private(set) var requestID: Int64?

  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// The last string, as far as it is a letter.
  private var text: UInt8?
  private var length = 0
  /// The names of the members that the scan is in, as far as they are letters.
  private var outerName: UInt8?
  private var innerName: UInt8?
  /// The digits that have come of the number.
  private var number: Int64?

  /// Starts before the first byte of a message.
  package init() {}

  /// Takes the next bytes; what follows the number is not looked at.
  ///
  /// - Complexity: O(bytes)
  package mutating func scan(_ bytes: [UInt8]) {
    for byte in bytes {
      if requestID != nil { return }
      if isInString { scanString(byte) } else { scan(byte) }
    }
  }

  private mutating func scanString(_ byte: UInt8) {
    if isEscaped {
      isEscaped = false
      length += 1
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
      if length != 1 { text = nil }
    } else {
      text = byte
      length += 1
    }
  }

  private mutating func scan(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""):
      (isInString, text, length) = (true, nil, 0)
    case UInt8(ascii: ":"):
      if depth == 1 { outerName = text }
      if depth == 2 { innerName = text }
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      depth += 1
      innerName = nil
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      endNumber()
      depth -= 1
    case UInt8(ascii: ","):
      endNumber()
      if depth == 2 { innerName = nil }
    case UInt8(ascii: "0")...UInt8(ascii: "9") where isAtNumber:
      let (tens, overflow) = (number ?? 0).multipliedReportingOverflow(by: 10)
      number = overflow ? nil : tens &+ Int64(byte - UInt8(ascii: "0"))
      if overflow { innerName = nil }
    case 0x20, 0x09, 0x0A, 0x0D: break
    default:
      if isAtNumber {
        number = nil
        innerName = nil
      }
    }
  }

  private var isAtNumber: Bool {
    depth == 2 && outerName == UInt8(ascii: "d") && innerName == UInt8(ascii: "r")
  }

  private mutating func endNumber() {
    if isAtNumber, let number, number >= 0 { requestID = number }
    number = nil
  }
}
