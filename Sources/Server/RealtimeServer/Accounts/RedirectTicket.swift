private import Crypto
private import Foundation
internal import RealtimeCore
internal import RealtimeHub

/// Who has sent a request, for the server that it is sent on to.
///
/// HTTP clients drop the line `Authorization` when they are sent to another host, and an address is no place
/// for a token, as logs keep it. So the server that sends a request on checks the token itself, and puts
/// what it says into the address: for this request and that server only, for a moment, once. It is sealed
/// with a key that only the servers know, so that logs do not tell who it was either.
struct RedirectTicket: Equatable {
  /// How long it counts, in milliseconds.
  static let lifetime: Int64 = 10_000
  /// How far what servers take for the time of the storage may be apart, in milliseconds.
  static let margin: Int64 = 2_000
  /// The parameter of the address, which is its last one.
  static let parameter = "hearth_ticket"
  private static let purpose = "hearth redirect ticket 1"

  /// The run of the server that it is for.
  var server: String
  /// What is asked for.
  var request: TicketedRequest
  /// When it ends, by the clock of the storage, in milliseconds.
  var end: Int64
  /// Who asks.
  var credential: VerifiedCredential

  /// The text for the address; nil when the system has no randomness.
  func sealed(with secret: [UInt8]) -> String? {
    let json = JSONValue.object(
      ("s", .string(server)),
      ("r", .string(request.digest)),
      ("e", .integer(end)),
      ("i", credential.identity.json),
      ("a", credential.auth),
      ("x", credential.expires.map { .integer($0) } ?? .null)
    )
    let box = try? AES.GCM.seal(
      Array(json.text.utf8),
      using: Self.key(of: secret),
      authenticating: Array(Self.purpose.utf8)
    )
    return (box?.combined).map { Base64URL.encode(Array($0)) }
  }

  /// Reads a text; nil when no server with the same secret has sealed it.
  init?(_ text: String, sealedWith secret: [UInt8]) {
    guard let bytes = Base64URL.decode(text), let box = try? AES.GCM.SealedBox(combined: bytes),
      let plain = try? AES.GCM.open(
        box,
        using: Self.key(of: secret),
        authenticating: Array(Self.purpose.utf8)
      ),
      let json = try? JSONParser.parse(Array(plain)),
      let server = json["s"]?.string, let digest = json["r"]?.string, let end = json["e"]?.integer,
      let identity = json["i"].flatMap({ Identity(json: $0) }), let auth = json["a"]
    else { return nil }
    self.server = server
    self.request = TicketedRequest(digest: digest)
    self.end = end
    credential = VerifiedCredential(identity, auth: auth, expires: json["x"]?.integer)
  }

  init(server: String, request: TicketedRequest, end: Int64, credential: VerifiedCredential) {
    self.server = server
    self.request = request
    self.end = end
    self.credential = credential
  }

  private static func key(of secret: [UInt8]) -> SymmetricKey {
    HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret),
      info: Array(purpose.utf8),
      outputByteCount: 32
    )
  }
}

/// What a ticket is for: a method, a path with its parameters, and a database.
struct TicketedRequest: Equatable {
  /// A digest of all of it.
  let digest: String

  fileprivate init(digest: String) { self.digest = digest }

  init(method: String, target: String, database: String) {
    // None of the three has a line break in it.
    let text = "\(method)\n\(target)\n\(database)"
    digest = Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8))))
  }
}

/// The tickets that were used at this server, until they would have ended anyway.
struct UsedTickets {
  private var ends: [String: Int64] = [:]
  private var nextTidying: Int64 = 0

  /// Notes a ticket; false if it has been used before.
  ///
  /// - Complexity: O(1), amortized.
  mutating func use(_ text: String, until end: Int64, at time: Int64) -> Bool {
    if time >= nextTidying {
      ends = ends.filter { $0.value > time }
      nextTidying = time + RedirectTicket.lifetime
    }
    // What it begins with was made by chance.
    return ends.updateValue(end, forKey: String(text.prefix(24))) == nil
  }
}
