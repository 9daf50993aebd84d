package import RealtimeCore

/// A JSON Web Token that is parsed but not verified.
package struct WebToken: Sendable {
  /// The signature algorithm that the token names.
  package let algorithm: String
  /// The key that the token names, or nil.
  package let keyID: String?
  package let claims: JSONValue
  let signed: [UInt8]
  let signature: [UInt8]

  /// The longest token accepted, in bytes; custom claims take up at most a thousand.
  private static let maximumBytes = 8 * 1_024

  /// Parses a token; nil if it is not one.
  ///
  /// A token with a repeated name in an object is rejected, because two readers could understand it
  /// differently.
  ///
  /// - Complexity: O(length)
  init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
      let signature = Base64URL.decode(parts[2]), let algorithm = header["alg"]?.string,
      // The token demands an extension, and none is supported.
      header["crit"] == nil
    else { return nil }
    self.algorithm = algorithm
    self.claims = claims
    self.signature = signature
    keyID = header["kid"]?.string
    signed = Array("\(parts[0]).\(parts[1])".utf8)
  }

  private static func json(_ part: Substring) -> JSONValue? {
    guard let bytes = Base64URL.decode(part), let json = try? JSONParser.parse(bytes),
      json.members != nil, !json.hasRepeatedNames
    else { return nil }
    return json
  }

  /// The text of a token without a signature, as the emulator issues it.
  static func unsigned(_ claims: JSONValue) -> String {
    let header = JSONValue.object(("alg", .string("none")), ("type", .string("JWT")))
    return "\(part(header)).\(part(claims))."
  }

  /// The text of a token signed with a key; nil without memory.
  static func signed(_ claims: JSONValue, with key: SigningKey) -> String? {
    let header = JSONValue.object(
      ("alg", .string(SigningKey.algorithm)),
      ("kid", .string(key.id)),
      ("typ", .string("JWT"))
    )
    let text = "\(part(header)).\(part(claims))"
    return key.signature(of: Array(text.utf8)).map { "\(text).\(Base64URL.encode($0))" }
  }

  private static func part(_ json: JSONValue) -> String { Base64URL.encode(json.text.utf8) }
}

extension JSONValue {
  /// Whether any object within the value has two members with the same name.
  ///
  /// - Complexity: O(size · log members)
  var hasRepeatedNames: Bool {
    switch self {
    case .null, .bool, .integer, .double, .string: false
    case .array(let elements): elements.contains(where: \.hasRepeatedNames)
    case .object(let members):
      Set(members.map { Array($0.name.utf8) }).count < members.count
        || members.contains(where: \.value.hasRepeatedNames)
    }
  }
}

/// The claims of an administrator's program about a user to sign in.
struct CustomToken {
  /// The user, who need not have an account yet.
  let uid: String
  /// The claims to add to the user's tokens.
  let claims: [JSONMember]

  static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
  /// The maximum lifetime of a token, and how far ahead its clock may be, in seconds.
  private static let bounds = (lifetime: Int64(3_600), tolerance: Int64(60))

  /// Reads a token that is valid at a time in milliseconds since 1970.
  ///
  /// The issuer, which names the server and the database, must be the value of `iss` and `sub`.
  init(
    _ text: String,
    signedBy key: SigningKey,
    issuer: String,
    at now: Int64
  ) throws(IdentityError) {
    guard let token = WebToken(text), token.algorithm == SigningKey.algorithm,
      key.isSigned(token.signed, by: token.signature)
    else { throw Self.invalid("The token is not signed with the key for custom tokens.") }
    let claims = token.claims
    guard claims["aud"]?.string == Self.audience else {
      throw Self.invalid("The audience is wrong.")
    }
    guard claims["iss"]?.string == issuer, claims["sub"]?.string == issuer else {
      throw IdentityError("CREDENTIAL_MISMATCH")
    }
    guard let issued = claims["iat"]?.integer, let expires = claims["exp"]?.integer,
      issued >= 0, expires >= issued, expires - issued <= Self.bounds.lifetime
    else { throw Self.invalid("The times are wrong.") }
    guard issued <= now / 1_000 + Self.bounds.tolerance, expires > now / 1_000 else {
      throw Self.invalid("The token is expired, or not valid yet.")
    }
    try self.init(claims)
  }

  /// Reads a token as the emulator accepts it: JSON, or a token whose signature is ignored.
  init(unsigned text: String) throws(IdentityError) {
    let json = text.hasPrefix("{") ? try? JSONParser.parse(text) : WebToken(text)?.claims
    guard let json else { throw Self.invalid("It is neither a token nor JSON.") }
    try self.init(json)
  }

  private init(_ json: JSONValue) throws(IdentityError) {
    guard let uid = json["uid"]?.string, Account.isIdentifier(uid) else {
      throw Self.invalid("The uid must be 1 to 128 visible ASCII characters.")
    }
    self.uid = uid
    claims = try CustomClaims.checked(json["claims"])
  }

  private static func invalid(_ detail: String) -> IdentityError {
    IdentityError("INVALID_CUSTOM_TOKEN", detail: detail)
  }
}

/// The claims that administrators and custom tokens add to a user's tokens.
enum CustomClaims {
  /// The maximum size of the claims of an account or custom token, in bytes of JSON.
  private static let maximumBytes = 1_000

  /// The names with a fixed meaning.
  private static let reserved: Set<String> = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "email",
    "email_verified", "exp", "firebase", "iat", "iss", "jti", "name", "nbf", "nonce", "picture",
    "provider_id", "sub", "uid", "user_id",
  ]

  /// Checks that claims are an object, not too long, and use no reserved name.
  static func checked(_ json: JSONValue?) throws(IdentityError) -> [JSONMember] {
    guard let json else { return [] }
    guard let members = json.members, !json.hasRepeatedNames else {
      throw IdentityError("INVALID_CLAIMS")
    }
    guard json.text.utf8.count <= maximumBytes else { throw IdentityError("CLAIMS_TOO_LARGE") }
    if let member = members.first(where: { reserved.contains($0.name) }) {
      throw IdentityError("FORBIDDEN_CLAIM", detail: member.name)
    }
    return members
  }

  /// Merges the claims of an account and a session; where both use a name, the session's claim
  /// wins.
  static func merged(_ account: [JSONMember], with session: [JSONMember]) -> [JSONMember] {
    account.filter { member in !session.contains { $0.name == member.name } } + session
  }
}

/// A refresh token, which continues a session: 256 unguessable bits.
///
/// Each use returns a successor, which is derived from the token and a secret of the server. So a
/// client that uses a token twice gets the same answer, and loses nothing if the first one got
/// lost. Without the secret, the successor cannot be computed.
struct RefreshToken: Sendable {
  /// The token as clients hold it.
  let text: String
  /// The hash by which a store knows the token.
  let hash: [UInt8]
  private let bytes: [UInt8]

  static let byteCount = 32

  /// Makes a token of ``byteCount`` random bytes.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    text = Base64URL.encode(bytes)
    hash = Cryptography.sha256(bytes)
  }

  /// Parses a token; nil if it cannot be one.
  init?(_ text: String) {
    guard text.utf8.count <= 64, let bytes = Base64URL.decode(text), bytes.count == Self.byteCount
    else { return nil }
    self.init(bytes)
  }

  func successor(_ secret: [UInt8]) -> RefreshToken {
    RefreshToken(Cryptography.hmac(of: bytes, key: secret))
  }
}

/// Base64 with the URL-safe alphabet and without padding, as in tokens.
package enum Base64URL {
  /// Writes bytes as text.
  ///
  /// - Complexity: O(bytes)
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    let letters = Base64.digits(of: bytes).map { digit in
      switch digit {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: digit
      }
    }
    return String(decoding: letters, as: UTF8.self)
  }

  /// Decodes a text; nil if it is not what ``encode(_:)`` returns for any bytes.
  ///
  /// Each byte sequence has exactly one text, so a token cannot be altered and stay valid.
  ///
  /// - Complexity: O(length)
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    guard !text.utf8.contains(where: { "+/.=".utf8.contains($0) }) else { return nil }
    var (decoder, bytes) = (Base64Decoder(), [UInt8]())
    return decoder.decode(String(text), into: &bytes) && decoder.rest == 0 ? bytes : nil
  }
}
