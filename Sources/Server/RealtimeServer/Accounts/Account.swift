package import RealtimeCore

package struct Account: Hashable, Sendable {
  /// The database that it belongs to; the same person has a separate account in another database.
  package var database: String
  /// The identifier by which rules and data refer to the user.
  package let uid: String
  package var email: EmailAddress?
  package var isEmailVerified = false
  package var displayName: String?
  package var photoURL: String?
  /// The stored form of the password, or nil.
  package var password: PasswordHash?
  /// The claims that administrators add to the account's tokens.
  package var customClaims: [JSONMember] = []
  package var isDisabled = false
  /// When the account was created, in milliseconds since 1970.
  package let created: Int64
  /// When the user last signed in, in milliseconds since 1970.
  package var lastSignIn: Int64
  /// When the password was last set, in milliseconds since 1970, or nil.
  package var passwordChanged: Int64?
  /// Tokens that were issued before this second since 1970 are no longer valid.
  package var validSince: Int64
  /// When a password reset was last requested, in milliseconds since 1970, or nil.
  package var resetRequested: Int64?

  /// Makes an account that has not been signed in to.
  package init(database: String, uid: String, created: Int64) {
    self.database = database
    self.uid = uid
    self.created = created
    lastSignIn = created
    validSince = created / 1_000
  }

  /// Whether a text can be the identifier of a user: 1 to 128 visible ASCII characters.
  ///
  /// With other characters, two users could look alike to people, or compare as equal.
  static func isIdentifier(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// The ways to sign in to it.
  var providers: [String] { password != nil && email != nil ? ["password"] : [] }
}

extension Account {
  /// The stored form of the account.
  package var json: JSONValue {
    .object(
      ("database", .string(database)),
      ("uid", .string(uid)),
      ("created", .integer(created)),
      ("lastSignIn", .integer(lastSignIn)),
      ("validSince", .integer(validSince)),
      ("disabled", .bool(isDisabled)),
      ("emailVerified", .bool(isEmailVerified)),
      ("email", email.map { .string($0.text) }),
      ("displayName", displayName.map { .string($0) }),
      ("photoURL", photoURL.map { .string($0) }),
      ("password", password.map { .string($0.text) }),
      ("passwordChanged", passwordChanged.map { .integer($0) }),
      ("resetRequested", resetRequested.map { .integer($0) }),
      ("claims", customClaims.isEmpty ? nil : .object(customClaims))
    )
  }

  /// Reads the stored form; nil if it is not what ``json`` returns.
  package init?(json: JSONValue) {
    guard let database = json["database"]?.string, let uid = json["uid"]?.string,
      let created = json["created"]?.integer, let lastSignIn = json["lastSignIn"]?.integer,
      let validSince = json["validSince"]?.integer, let isDisabled = json["disabled"]?.bool,
      let isEmailVerified = json["emailVerified"]?.bool
    else { return nil }
    self.init(database: database, uid: uid, created: created)
    self.lastSignIn = lastSignIn
    self.validSince = validSince
    self.isDisabled = isDisabled
    self.isEmailVerified = isEmailVerified
    if let text = json["email"]?.string {
      guard let email = EmailAddress(text) else { return nil }
      self.email = email
    }
    if let text = json["password"]?.string {
      guard let password = PasswordHash(text) else { return nil }
      self.password = password
    }
    displayName = json["displayName"]?.string
    photoURL = json["photoURL"]?.string
    passwordChanged = json["passwordChanged"]?.integer
    resetRequested = json["resetRequested"]?.integer
    customClaims = json["claims"]?.members ?? []
  }
}

/// A change to an account; properties that are nil stay as they are.
struct AccountChange {
  var email: EmailAddress?
  var password: Password?
  /// The display name; an empty one removes it.
  var displayName: String?
  /// The URL of a picture; an empty one removes it.
  var photoURL: String?
  /// Whether the password is removed, and the address with it, which is free for other accounts.
  var removesPassword = false
  var isEmailVerified: Bool?
  var isDisabled: Bool?
  var customClaims: [JSONMember]?
  var endsSessions = false
}

/// The email address of an account, in the one form in which addresses are compared.
///
/// Only ASCII is accepted, and letters are lowercased. With other characters, two addresses could
/// look alike and be two accounts, or look different and be one (a dotless i, a Kelvin sign,
/// composed or decomposed letters). International domains must come in their ASCII form (`xn--…`).
package struct EmailAddress: Hashable, Sendable, CustomStringConvertible {
  package let text: String

  /// The maximum lengths of an address, of its local part and of a domain label, in bytes.
  private static let maximum = (address: 254, local: 64, label: 63)

  /// Validates and lowercases an address; nil if it is not valid.
  ///
  /// - Complexity: O(length)
  init?(_ text: String) {
    guard text.utf8.count <= Self.maximum.address else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, Self.isLocal(parts[0]), Self.isDomain(parts[1]) else { return nil }
    self.text = String(decoding: text.utf8.map(Self.lowercased), as: UTF8.self)
  }

  package var description: String { text }

  private static func isLocal(_ part: Substring.UTF8View) -> Bool {
    part.count <= maximum.local
      && part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && $0.allSatisfy { $0.isAlphanumeric || marks.contains($0) }
      }
  }

  private static func isDomain(_ part: Substring.UTF8View) -> Bool {
    let hyphen = UInt8(ascii: "-")
    return part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
      !$0.isEmpty && $0.count <= maximum.label && $0.first != hyphen && $0.last != hyphen
        && $0.allSatisfy { $0.isAlphanumeric || $0 == hyphen }
    }
  }

  /// The characters allowed in the local part, apart from letters, digits and dots.
  private static let marks = Set("!#$%&'*+-/=?^_`{|}~".utf8)

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
