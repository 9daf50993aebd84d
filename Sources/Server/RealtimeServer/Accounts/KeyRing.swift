private import Foundation
internal import RealtimeCore

/// The secrets of a server: the key that signs tokens, the retired keys, and the refresh secret.
struct KeyRing: Sendable {
  /// How long a retired key is kept, which is longer than any token signed with it is valid; in
  /// milliseconds.
  static let afterlife: Int64 = 25 * 3_600_000
  /// The age at which a key is replaced, in milliseconds.
  static let lifetime: Int64 = 90 * 24 * 3_600_000
  private static let version: Int64 = 1

  /// Identifies this server in its tokens.
  let serverID: String
  /// The secret from which the successors of refresh tokens are derived.
  let refreshSecret: [UInt8]
  private(set) var current: SigningKey
  private var retired: [SigningKey] = []

  /// Makes secrets out of 48 random bytes, at a time in milliseconds since 1970.
  ///
  /// - Throws: ``StoreError`` if there is no memory for a key.
  init(random: [UInt8], now: Int64) throws(StoreError) {
    serverID = Base64URL.encode(random.prefix(16))
    refreshSecret = Array(random.dropFirst(16))
    current = try SigningKey(created: now)
  }

  /// The issuer of the tokens that its keys sign.
  var issuer: String { "urn:hearth:\(serverID)" }

  subscript(id: String) -> SigningKey? {
    current.id == id ? current : retired.first { $0.id == id }
  }

  /// Replaces the signing key; the old key remains valid for the tokens that it signed.
  ///
  /// - Throws: ``StoreError`` if there is no memory for a key; nothing has changed then.
  mutating func rotate(at now: Int64) throws(StoreError) {
    let next = try SigningKey(created: now)
    current.retired = now
    retired.append(current)
    current = next
    retired.removeAll { ($0.retired ?? now) + Self.afterlife <= now }
  }

  /// Whether the signing key is old enough to be replaced.
  func isDue(at now: Int64) -> Bool { now - current.created >= Self.lifetime }

  // MARK: JSON

  /// The stored form of the secrets.
  var json: JSONValue {
    .object(
      ("version", .integer(Self.version)),
      ("server", .string(serverID)),
      ("refresh", .string(Base64URL.encode(refreshSecret))),
      ("keys", .array(([current] + retired).map(\.json)))
    )
  }

  /// Reads the stored form; nil if it is not what ``json`` returns.
  init?(json: JSONValue) {
    guard json["version"]?.integer == Self.version, let serverID = json["server"]?.string,
      let secret = json["refresh"]?.string.flatMap({ Base64URL.decode($0) }), secret.count == 32,
      let elements = json["keys"]?.elements
    else { return nil }
    let keys = elements.compactMap { SigningKey(json: $0) }
    guard keys.count == elements.count, let current = keys.first(where: { $0.retired == nil })
    else { return nil }
    self.serverID = serverID
    self.current = current
    refreshSecret = secret
    retired = keys.filter { $0.retired != nil }
  }
}

/// A key that tokens are signed with: ECDSA over P-256 with SHA-256, "ES256".
struct SigningKey: Sendable {
  /// The only algorithm; a token cannot choose how it is verified.
  static let algorithm = "ES256"

  /// The identifier of the key in tokens: a digest of its public part.
  let id: String
  /// When the key was created, in milliseconds since 1970.
  let created: Int64
  /// When another key replaced it, in milliseconds since 1970; nil while it is in use.
  var retired: Int64?
  private let key: P256Key

  init(created: Int64) throws(StoreError) {
    self.init(try P256Key(), created: created)
  }

  private init(_ key: P256Key, created: Int64) {
    self.key = key
    self.created = created
    // The digest is that of an uncompressed point, which begins with a 4.
    id = Base64URL.encode(Cryptography.sha256([4] + key.publicBytes).prefix(12))
  }

  /// Signs bytes; nil without memory.
  func signature(of bytes: [UInt8]) -> [UInt8]? { key.signature(of: bytes) }

  /// Whether a signature of these bytes was made with this key.
  func isSigned(_ bytes: [UInt8], by signature: [UInt8]) -> Bool {
    key.isSigned(bytes, by: signature)
  }

  // MARK: JSON

  /// The key as a JSON Web Key with its private part, and its dates.
  var json: JSONValue {
    let point = key.publicBytes
    return .object(
      ("kty", .string("EC")),
      ("crv", .string("P-256")),
      ("alg", .string(Self.algorithm)),
      ("use", .string("sig")),
      ("kid", .string(id)),
      ("x", .string(Base64URL.encode(point.prefix(32)))),
      ("y", .string(Base64URL.encode(point.dropFirst(32)))),
      ("d", .string(Base64URL.encode(key.privateBytes))),
      ("created", .integer(created)),
      ("retired", retired.map { .integer($0) })
    )
  }

  /// Reads the stored form; nil if it is not what ``json`` returns.
  init?(json: JSONValue) {
    guard json["crv"]?.string == "P-256", let created = json["created"]?.integer,
      let bytes = json["d"]?.string.flatMap({ Base64URL.decode($0) }),
      let key = P256Key(privateBytes: bytes)
    else { return nil }
    self.init(key, created: created)
    retired = json["retired"]?.integer
    guard json["kid"]?.string == id else { return nil }
  }
}

/// A secret that makes anyone who presents it an administrator.
package struct AdministratorKey: Sendable, CustomStringConvertible, CustomReflectable {
  private let digest: [UInt8]

  /// The minimum length of a secret, in bytes.
  static let minimumBytes = 32

  /// Takes a secret of visible ASCII characters, so that it fits in a header; nil if it is invalid
  /// or too short.
  ///
  /// - Complexity: O(length)
  init?(_ secret: String) {
    guard secret.utf8.count >= Self.minimumBytes,
      secret.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    digest = Cryptography.sha256(secret.utf8)
  }

  /// Whether a text is the secret; the time taken reveals nothing about it.
  package func matches(_ text: String) -> Bool {
    ConstantTime.areEqual(Cryptography.sha256(text.utf8), digest)
  }

  package var description: String { "an administrator's key" }

  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Compares secrets without revealing how much of them was right.
enum ConstantTime {
  /// Whether two byte sequences are equal; the time taken depends only on their lengths.
  ///
  /// - Complexity: O(bytes)
  static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
  }
}
