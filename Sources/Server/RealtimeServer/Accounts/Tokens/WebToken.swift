package import RealtimeCore

/// A JSON Web Token, taken apart and not yet believed.
package struct WebToken: Sendable {
  /// The algorithm of the signature, as the token says.
  package let algorithm: String
  /// The key that the token says it is signed with, or nil.
  package let keyID: String?
  /// What the token says.
  package let claims: JSONValue
  /// What is signed.
  let signed: [UInt8]
  let signature: [UInt8]

  /// Longest token that is looked at, in bytes; custom claims have at most a thousand.
  private static let maximumBytes = 8 * 1_024

  /// Takes a token apart; nil when it is none.
  ///
  /// One with a name twice in an object is none: two readers could read it in two ways.
  ///
  /// - Complexity: O(length)
  package init?(_ text: String) {
    guard text.utf8.count <= Self.maximumBytes else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
      let signature = Base64URL.decode(parts[2]), let algorithm = header["alg"]?.string,
      // What an extension would demand is not known here.
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

  /// The text of a token without a signature, as the emulator gives them out.
  static func unsigned(_ claims: JSONValue) -> String {
    let header = JSONValue.object(("alg", .string("none")), ("type", .string("JWT")))
    return "\(part(header)).\(part(claims))."
  }

  /// The text of a token that a key signs; nil when the system has no randomness.
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
  /// Whether an object in it has two members of one name.
  ///
  /// - Complexity: O(size · log members)
  package var hasRepeatedNames: Bool {
    switch self {
    case .null, .bool, .integer, .double, .string: false
    case .array(let elements): elements.contains(where: \.hasRepeatedNames)
    case .object(let members):
      Set(members.map { Array($0.name.utf8) }).count < members.count
        || members.contains(where: \.value.hasRepeatedNames)
    }
  }
}
