/// Reassembles received messages from text frames, and splits messages to be sent into frames.
///
/// State: either between messages, or within one whose number of frames is known. A frame that
/// contains only a short number announces the number of frames of the next message; "0" is a
/// keepalive.
package struct FrameAssembler: Sendable {
  private var expected = 0
  private var received = 0
  private var buffer: [UInt8] = []
  private let segmentLimit: Int
  package var byteLimit: Int

  package init(segmentLimit: Int = Limits.segments, byteLimit: Int = Limits.messageBytes) {
    self.segmentLimit = segmentLimit
    self.byteLimit = byteLimit
  }

  /// Whether a message has been announced, but not all of its frames have arrived.
  package var isAssembling: Bool { expected > 0 }

  /// The number of frames of the current message; 0 between messages.
  package var announcedFrames: Int { expected }

  /// The number of bytes of the current message that have arrived.
  package var assembledBytes: Int { buffer.count }

  /// Reserves capacity so that the message is not copied while it grows.
  package mutating func reserve(_ bytes: Int) {
    buffer.reserveCapacity(min(bytes, byteLimit))
  }

  /// Abandons the current message; the caller must skip its remaining frames.
  ///
  /// - Returns: The bytes that have arrived, and the number of frames still to come.
  package mutating func giveUp() -> (bytes: [UInt8], framesToCome: Int) {
    defer {
      expected = 0
      received = 0
      buffer = []
    }
    return (buffer, expected - received)
  }

  /// Receives a text frame.
  ///
  /// - Returns: The message, if this frame completes one.
  /// - Throws: ``MessageError`` if a limit is exceeded. The caller must then abandon the message;
  ///   this frame counts as the first of those still to come.
  package mutating func receive(_ frame: [UInt8]) throws(MessageError) -> [UInt8]? {
    if expected == 0 {
      guard let count = Self.count(frame) else {
        if frame.count > byteLimit { throw tooLong }
        return frame
      }
      expected = count
      if count > segmentLimit {
        throw MessageError("a message of \(count) frames is longer than \(segmentLimit) frames")
      }
      return nil
    }
    if buffer.count + frame.count > byteLimit { throw tooLong }
    buffer.append(contentsOf: frame)
    received += 1
    return received == expected ? giveUp().bytes : nil
  }

  private var tooLong: MessageError {
    MessageError("a message is longer than \(byteLimit) bytes")
  }

  /// The number in a frame that consists of a few digits.
  private static func count(_ frame: [UInt8]) -> Int? {
    guard !frame.isEmpty, frame.count <= 6 else { return nil }
    var value = 0
    for byte in frame {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return value
  }

  /// Splits a message into frames: one if it is short, otherwise a count followed by the pieces.
  ///
  /// Pieces are measured in UTF-16 units, as in official clients, and never split a character.
  ///
  /// - Complexity: O(bytes)
  package static func frames(
    of message: [UInt8],
    segmentUnits: Int = Limits.segmentUnits
  ) -> [[UInt8]] {
    guard message.count > segmentUnits else { return [message] }
    var pieces: [[UInt8]] = []
    var start = 0
    var units = 0
    var index = 0
    while index < message.count {
      let (bytes, width) = size(of: message[index])
      if units + width > segmentUnits {
        pieces.append(Array(message[start..<index]))
        start = index
        units = 0
      }
      units += width
      index += bytes
    }
    pieces.append(Array(message[start...]))
    if pieces.count == 1 { return [message] }
    return [Array(String(pieces.count).utf8)] + pieces
  }

  /// The number of bytes and UTF-16 units of the character that starts with a byte of UTF-8.
  private static func size(of lead: UInt8) -> (bytes: Int, units: Int) {
    switch lead {
    case 0xF0...: (4, 2)
    case 0xE0...: (3, 1)
    case 0xC0...: (2, 1)
    default: (1, 1)
    }
  }
}

/// Finds the number of a request in a message that is too long to keep.
///
/// It scans the bytes for just enough JSON to find the member "r" of the member "d".
package struct RequestSkimmer: Sendable {
  /// The number, once it has been found.
  package private(set) var requestID: Int64?

  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// The last string, if it is a single byte; otherwise nil.
  private var text: UInt8?
  private var length = 0
  /// The names of the enclosing members, if they are single bytes.
  private var outerName: UInt8?
  private var innerName: UInt8?
  /// The value of the digits so far.
  private var number: Int64?

  package init() {}

  /// Scans the next bytes; bytes after the number are ignored.
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
