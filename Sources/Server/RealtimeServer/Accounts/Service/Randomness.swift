/// Where secrets come from.
enum Randomness {
  /// Bytes that nobody can guess.
  static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  private static let letters = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8
  )

  /// An identifier of a user: 28 letters and digits.
  static func uid() -> String {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<28).map { _ in letters[Int.random(in: 0..<62, using: &generator)] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
