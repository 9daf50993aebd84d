import RealtimeCore

@testable import RealtimeServer

/// Account requests and their tokens have one meaning or none, and tokens cannot be forged.
///
/// An input is a path, a content type and a body, separated by newlines.
enum IdentityCheck {
  private static let authority = (try? KeyRing(random: Array(repeating: 7, count: 48), now: 0))
    .map { TokenAuthority(keys: $0, revocations: []) }

  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    let parts = input.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
    let path = parts.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
    let body = parts.count > 2 ? Array(parts[2]) : []
    let route = IdentityRoute(path: path)
    if let route {
      try demand(
        IdentityRoute(path: route.path) == route,
        "\(path.debugDescription) is another route when it is written again"
      )
    }
    var request = IdentityRequest("POST", at: route ?? .token, database: "db")
    request.contentType = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil
    request.body = body
    for allowsForm in [false, true] {
      guard let fields = try? RequestBody.fields(of: request, allowsForm: allowsForm) else {
        continue
      }
      try check(fields)
    }
    try checkToken(String(decoding: body, as: UTF8.self))
  }

  private static let names = [
    "email", "password", "idToken", "oobCode", "displayName", "localId", "customAttributes",
    "refresh_token", "grant_type", "token", "returnSecureToken",
  ]

  private static func check(_ fields: RequestFields) throws(BrokenProperty) {
    for name in names {
      if let text = (try? fields.text(name)) ?? nil {
        try demand(!text.isEmpty && !text.utf8.contains(0), "\(name) is not text")
        try demand((try? fields.flag(name)) == nil, "\(name) is a text and a flag")
        try checkToken(text)
      }
      if let email = (try? fields.email(name)) ?? nil {
        try demand(EmailAddress(email.text) == email, "\(email) is another address")
        try demand(
          email.text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) },
          "\(email) is not an address in lowercase letters"
        )
      }
      if let texts = try? fields.texts(name) {
        try demand(texts.count <= 1_000, "\(name) has \(texts.count) texts")
      }
      _ = try? fields.newPassword(name)
      _ = try? fields.shown(name, maximumBytes: 256)
      _ = try? fields.embeddedJSON(name)
    }
  }

  private static func checkToken(_ text: String) throws(BrokenProperty) {
    if let token = WebToken(text) {
      try demand(!token.claims.hasRepeatedNames, "a token has a name twice")
      let whole =
        "\(String(decoding: token.signed, as: UTF8.self))."
        + Base64URL.encode(token.signature)
      try demand(whole == text, "two texts are one token")
    }
    guard let authority else { throw BrokenProperty("there is no key to check tokens with") }
    for now in [Int64(0), 1_700_000_000_000] {
      try demand(
        (try? authority.verify(text, for: "db", at: now)) == nil,
        "\(text.debugDescription) lets somebody in"
      )
      let custom = try? CustomToken(
        text,
        signedBy: authority.keys.current,
        issuer: "db",
        at: now
      )
      try demand(custom == nil, "\(text.debugDescription) is a custom token")
    }
    if let custom = try? CustomToken(unsigned: text) {
      try demand(Account.isIdentifier(custom.uid), "\(custom.uid.debugDescription) is a uid")
    }
    if let bytes = Base64URL.decode(text) {
      try demand(Base64URL.encode(bytes) == text, "two texts are the same bytes")
    }
  }
}
