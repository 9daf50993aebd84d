internal import Crypto
private import Foundation
internal import RealtimeCore

/// A key that tokens are signed with: ECDSA over P-256 with SHA-256, "ES256".
struct SigningKey: Sendable {
  /// The only algorithm: no token gets to choose how it is checked.
  static let algorithm = "ES256"

  /// What tokens name it by: a digest of its public half.
  let id: String
  /// When it was made, in milliseconds since 1970.
  let created: Int64
  /// When another one took its place, in milliseconds since 1970, or nil while it signs.
  var retired: Int64?
  private let key: P256.Signing.PrivateKey

  /// Makes a key.
  init(created: Int64) {
    self.init(P256.Signing.PrivateKey(), created: created)
  }

  private init(_ key: P256.Signing.PrivateKey, created: Int64) {
    self.key = key
    self.created = created
    let digest = SHA256.hash(data: key.publicKey.x963Representation)
    id = Base64URL.encode(digest.prefix(12))
  }

  /// Signs bytes; nil when the system has no randomness.
  func signature(of bytes: [UInt8]) -> [UInt8]? {
    (try? key.signature(for: bytes)).map { Array($0.rawRepresentation) }
  }

  /// Whether a signature is one of this key under these bytes.
  func isSigned(_ bytes: [UInt8], _ signature: [UInt8]) -> Bool {
    guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else {
      return false
    }
    return key.publicKey.isValidSignature(signature, for: bytes)
  }

  // MARK: JSON

  /// The key as a JSON Web Key with its private part, and the times.
  var json: JSONValue {
    let point = Array(key.publicKey.rawRepresentation)
    var members = [
      JSONMember("kty", .string("EC")),
      JSONMember("crv", .string("P-256")),
      JSONMember("alg", .string(Self.algorithm)),
      JSONMember("use", .string("sig")),
      JSONMember("kid", .string(id)),
      JSONMember("x", .string(Base64URL.encode(point.prefix(32)))),
      JSONMember("y", .string(Base64URL.encode(point.dropFirst(32)))),
      JSONMember("d", .string(Base64URL.encode(key.rawRepresentation))),
      JSONMember("created", .integer(created)),
    ]
    if let retired { members.append(JSONMember("retired", .integer(retired))) }
    return .object(members)
  }

  /// Reads what ``json`` gives; nil when it is something else.
  init?(json: JSONValue) {
    guard json["crv"]?.string == "P-256", let created = json["created"]?.integer,
      let bytes = json["d"]?.string.flatMap({ Base64URL.decode($0) }),
      let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
    else { return nil }
    self.init(key, created: created)
    retired = json["retired"]?.integer
    guard json["kid"]?.string == id else { return nil }
  }
}
