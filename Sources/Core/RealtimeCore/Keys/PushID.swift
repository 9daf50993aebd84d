/// Makes keys that sort by creation time, even across clients.
///
/// Twenty characters of an alphabet in ASCII order: eight for the milliseconds since 1970, twelve
/// (72 bits) of randomness. Within one millisecond the random part is incremented, not redrawn.
package struct PushIDGenerator: Sendable {
  /// The time of the last request.
  private var lastRequest: Int64 = -1
  /// The time in the last key; later than the requested time once the tail has overflowed.
  private var lastTime: Int64 = -1
  private var tail = [UInt8](repeating: 0, count: 12)

  /// Makes a generator; a program uses a single one, so that its keys ascend.
  package init() {}

  /// The next key.
  ///
  /// - Parameters:
  ///   - time: Milliseconds since 1970 by the server's clock.
  ///   - random: Draws a number from 0 through 63.
  /// - Returns: A key above all earlier ones of this generator whose time was not later.
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

/// The format of push ids.
package enum PushID {
  static let alphabet = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8
  )

  /// The eight characters of a time in milliseconds since 1970.
  package static func timePart(_ time: Int64) -> String {
    let digits = (0..<8).map { alphabet[Int(time >> Int64(42 - 6 * $0)) & 63] }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The time at which a push id was made, in milliseconds since 1970, or nil when it is none.
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
