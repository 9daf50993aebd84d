private import Foundation
internal import RealtimeCore

/// The verified sender of a request, for the server that the request is redirected to.
///
/// HTTP clients drop the `Authorization` header when they are redirected to another host, and a URL
/// is no place for a token, because it ends up in logs. So the redirecting server verifies the
/// token itself and puts the result into the URL. This ticket is valid for that request and server
/// only, for a moment, and once. It is sealed with a key that only the servers know, so that logs
/// do not reveal the user either.
struct RedirectTicket: Equatable {
  /// How long a ticket is valid, in milliseconds.
  static let lifetime: Int64 = 10_000
  /// How far the servers' estimates of the storage's time may differ, in milliseconds.
  static let margin: Int64 = 2_000
  /// The query parameter with the ticket, which is always the last one.
  static let parameter = "hearth_ticket"
  private static let purpose = "hearth redirect ticket 1"

  /// The run of the server that the ticket is for.
  var server: String
  var request: TicketedRequest
  /// When the ticket expires by the storage's clock, in milliseconds.
  var end: Int64
  var credential: VerifiedCredential
}

extension RedirectTicket {
  /// The text for the URL; nil without memory.
  func sealed(with secret: [UInt8]) -> String? {
    let json = JSONValue.object(
      ("s", .string(server)),
      ("r", .string(request.digest)),
      ("e", .integer(end)),
      ("i", credential.identity.json),
      ("x", credential.expires.map { .integer($0) } ?? .null)
    )
    return Cryptography.sealed(json, with: secret, for: Self.purpose)
  }

  /// Reads a ticket's text; nil unless a server with the same secret sealed it.
  init?(_ text: String, sealedWith secret: [UInt8]) {
    guard let json = Cryptography.opened(text, with: secret, for: Self.purpose),
      let server = json["s"]?.string, let digest = json["r"]?.string, let end = json["e"]?.integer,
      let identity = json["i"].flatMap({ Identity(json: $0) })
    else { return nil }
    self.init(
      server: server,
      request: TicketedRequest(digest: digest),
      end: end,
      credential: VerifiedCredential(identity: identity, expires: json["x"]?.integer)
    )
  }
}

/// The request that a ticket is for: a method, a path with its query, and a database.
struct TicketedRequest: Equatable {
  /// A digest of the three.
  let digest: String

  fileprivate init(digest: String) { self.digest = digest }

  init(method: String, target: String, database: String) {
    // None of the three contains a line break.
    let text = "\(method)\n\(target)\n\(database)"
    digest = Base64URL.encode(Cryptography.sha256(text.utf8))
  }
}
