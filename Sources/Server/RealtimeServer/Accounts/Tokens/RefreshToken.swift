internal import Crypto

/// What a session is continued with: 256 bits that nobody can guess.
///
/// Each use gives another one. The successor is made of the token and a secret of the server, so that
/// whoever uses a token twice gets the same answer: a client that lost the first one has lost nothing.
/// Without the secret nobody can work a successor out.
struct RefreshToken: Sendable {
  /// The token as clients hold it.
  let text: String
  /// What a store knows it by.
  let hash: [UInt8]
  private let bytes: [UInt8]

  static let byteCount = 32

  /// Makes a token.
  ///
  /// - Parameter bytes: ``byteCount`` random bytes.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    text = Base64URL.encode(bytes)
    hash = Array(SHA256.hash(data: bytes))
  }

  /// Reads a token; nil when it cannot be one.
  init?(_ text: String) {
    guard text.utf8.count <= 64, let bytes = Base64URL.decode(text), bytes.count == Self.byteCount
    else { return nil }
    self.init(bytes)
  }

  /// The token that takes its place.
  func successor(_ secret: [UInt8]) -> RefreshToken {
    let key = SymmetricKey(data: secret)
    return RefreshToken(Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key)))
  }
}
