/// Makes keys that sort by creation time, even across clients.
///
/// A key has twenty characters from an alphabet in ASCII order: eight for the milliseconds since
/// 1970 and twelve (72 bits) of randomness. Within one millisecond, the random part is incremented
/// rather than redrawn.
package struct PushIDGenerator: Sendable {
  /// The time of the last request.
  private var lastRequest: Int64 = -1
  /// The time in the last key; it is later than the requested time if the tail has overflowed.
  private var lastTime: Int64 = -1
  private var tail = [UInt8](repeating: 0, count: 12)

  /// Makes a generator; a program should use a single one, so that its keys ascend.
  package init() {}

  /// Makes the next key.
  ///
  /// - Parameters:
  ///   - time: The server's time, in milliseconds since 1970.
  ///   - random: Returns a random number from 0 to 63.
  /// - Returns: A key that sorts after all earlier keys of this generator whose time was not later.
  package mutating func next(time: Int64, random: () -> UInt8) -> String {
    let request = max(0, time)
    var time = request == lastRequest ? lastTime : request
    lastRequest = request
    if time == lastTime, tail.allSatisfy({ $0 == 63 }) { time += 1 }
    if time == lastTime {
      var position = 11
      while tail[position] == 63 {
        tail[position] = 0
        position -= 1
      }
      tail[position] += 1
    } else {
      tail = (0..<12).map { _ in random() & 63 }
    }
    lastTime = time
    return PushID.timePart(time)
      + String(decoding: tail.map { PushID.alphabet[Int($0)] }, as: UTF8.self)
  }
}

/// The format of push IDs.
package enum PushID {
  static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8
  )

  /// The eight characters that encode a time in milliseconds since 1970.
  package static func timePart(_ time: Int64) -> String {
    let digits = (0..<8).map { alphabet[Int(time >> Int64(42 - 6 * $0)) & 63] }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The time at which a push ID was made, in milliseconds since 1970; nil if the text is none.
  package static func time(of text: String) -> Int64? {
    guard text.utf8.count == 20 else { return nil }
    var time: Int64 = 0
    for (index, byte) in text.utf8.enumerated() {
      guard let digit = alphabet.firstIndex(of: byte) else { return nil }
      if index < 8 { time = time << 6 | Int64(digit) }
    }
    return time
  }
}
