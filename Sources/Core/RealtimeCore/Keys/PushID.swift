/// Makes keys that sort by creation time, even across clients.
///
/// A key has twenty characters from an alphabet in ASCII order: eight for the milliseconds since
/// 1970 and twelve (72 bits) of randomness. Within one millisecond, the random part is incremented
/// rather than redrawn.
///
/// Each key sorts after the one before it, also when the time goes back: an estimate of the
/// server's time does so at a reconnection, and a computer's clock when it is set. The generator
/// then stays at its latest time until the clock has caught up. A step of more than
/// ``patience`` is followed instead, and the order begins anew: a clock that was far ahead once
/// must not date keys into the future for as long, where rules that compare a key with `now`
/// refuse them. For the same reason the latest time is not kept for the next process.
///
/// A database has one generator, as order matters among the children of a location only.
package struct PushIDGenerator: Sendable {
  /// How many milliseconds the time may go back without an effect on the order of the keys.
  package static let patience: Int64 = 60_000
  /// The latest time that a key can tell.
  package static let latest: Int64 = 1 << 48 - 1

  /// The time in the last key.
  private var time: Int64 = -1
  private var tail = [UInt8](repeating: 0, count: 12)

  /// Makes a generator; a database should use a single one, so that its keys ascend.
  package init() {}

  /// Makes the next key.
  ///
  /// - Parameters:
  ///   - now: The server's time, in milliseconds since 1970.
  ///   - random: Returns a random number from 0 to 63.
  /// - Returns: A key that sorts after the last one, unless the time has gone back by more than
  ///   ``patience``.
  package mutating func next(time now: Int64, random: () -> UInt8) -> String {
    let now = min(max(0, now), Self.latest)
    if now > time || now < time - Self.patience {
      time = now
      tail = tail.map { _ in random() & 63 }
    } else if let digit = tail.lastIndex(where: { $0 < 63 }) {
      tail[digit] += 1
      for full in tail.indices[(digit + 1)...] { tail[full] = 0 }
    } else {
      time += 1
      tail = tail.map { _ in random() & 63 }
    }
    return PushID.timePart(time)
      + String(decoding: tail.map { PushID.alphabet[Int($0)] }, as: UTF8.self)
  }
}

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
