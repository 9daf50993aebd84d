/// Puts messages together that arrive cut into text frames, and cuts those that are sent.
///
/// State: either between messages, or in the middle of one with a known number of frames to come.
/// A frame that is only a short number announces how many frames the next message has; "0" is a
/// sign of life and nothing else.
package struct FrameAssembler: Sendable {
  private var expected = 0
  private var received = 0
  private var buffer: [UInt8] = []
  private let segmentLimit: Int
  /// The most bytes that a message may have.
  package var byteLimit: Int

  /// Makes an assembler.
  ///
  /// - Parameters:
  ///   - segmentLimit: The most frames a message may announce.
  ///   - byteLimit: The most bytes a message may have.
  package init(segmentLimit: Int = Limits.segments, byteLimit: Int = Limits.messageBytes) {
    self.segmentLimit = segmentLimit
    self.byteLimit = byteLimit
  }

  /// Whether some but not all frames of a message have arrived.
  package var isAssembling: Bool { expected > 0 }

  /// How many frames the message has that is being assembled; 0 between messages.
  package var announcedFrames: Int { expected }

  /// How many bytes of it have arrived.
  package var assembledBytes: Int { buffer.count }

  /// Makes room for a message, so that it is not copied while it grows.
  package mutating func reserve(_ bytes: Int) {
    buffer.reserveCapacity(min(bytes, byteLimit))
  }

  /// Gives up the message that is being assembled: whoever calls this skips the rest of its frames.
  ///
  /// - Returns: What has arrived of it, and how many of its frames are still to come.
  package mutating func giveUp() -> (bytes: [UInt8], framesToCome: Int) {
    defer {
      expected = 0
      received = 0
      buffer = []
    }
    return (buffer, expected - received)
  }

  /// Takes a text frame.
  ///
  /// - Parameter frame: The bytes of the frame.
  /// - Returns: A whole message, or nil while there is none.
  /// - Throws: ``MessageError`` when a limit is passed; the message can then only be given up, with
  ///   this frame as the one that is missing first.
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
    guard received == expected else { return nil }
    defer {
      expected = 0
      received = 0
      buffer = []
    }
    return buffer
  }

  private var tooLong: MessageError {
    MessageError("a message is longer than \(byteLimit) bytes")
  }

  /// The number that a short frame of digits stands for.
  private static func count(_ frame: [UInt8]) -> Int? {
    guard !frame.isEmpty, frame.count <= 6 else { return nil }
    var value = 0
    for byte in frame {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return value
  }

  /// The frames of a message: itself when it is short, else a count and the pieces.
  ///
  /// Pieces are measured in UTF-16 units, as clients do, and never end within a character.
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

  /// The bytes and UTF-16 units of the character that starts with a byte of UTF-8.
  private static func size(of lead: UInt8) -> (bytes: Int, units: Int) {
    switch lead {
    case 0xF0...: (4, 2)
    case 0xE0...: (3, 1)
    case 0xC0...: (2, 1)
    default: (1, 1)
    }
  }
}
