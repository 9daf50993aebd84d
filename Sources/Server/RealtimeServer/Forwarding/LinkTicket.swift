internal import RealtimeCore

/// Proves to a server that another one of the same cluster opens a link to it.
///
/// It is sealed with the key that only the servers know, and is valid for one server, for a moment,
/// and once.
struct LinkTicket {
  static let parameter = "hearth_link"
  private static let purpose = "hearth link ticket 1"

  /// The run of the server that the link leads to.
  let server: String
  /// The run of the server that opens it.
  let origin: String
  /// When the ticket expires by the storage's clock, in milliseconds.
  let end: Int64
}

extension LinkTicket {
  /// Reads a ticket's text; nil unless a server with the same secret sealed it.
  init?(_ text: String, sealedWith secret: [UInt8]) {
    guard let json = Cryptography.opened(text, with: secret, for: Self.purpose),
      let server = json["s"]?.string, let origin = json["o"]?.string, let end = json["e"]?.integer
    else { return nil }
    self.init(server: server, origin: origin, end: end)
  }

  /// The text for the handshake; nil without memory.
  func sealed(with secret: [UInt8]) -> String? {
    let json = JSONValue.object(
      ("s", .string(server)),
      ("o", .string(origin)),
      ("e", .integer(end))
    )
    return Cryptography.sealed(json, with: secret, for: Self.purpose)
  }
}
