internal import RealtimeCore

/// The secrets of a server: the key that signs, those that signed before, and what else depends on
/// nobody knowing it.
struct KeyRing: Sendable {
  /// How long a key that signs no more is kept: longer than any token that it has signed lives.
  static let afterlife: Int64 = 25 * 3_600_000
  /// The age at which a key is replaced.
  static let lifetime: Int64 = 90 * 24 * 3_600_000
  private static let version: Int64 = 1

  /// What tells this server from others in its tokens.
  let serverID: String
  /// What the successors of refresh tokens are made with.
  let refreshSecret: [UInt8]
  /// The key that signs.
  private(set) var current: SigningKey
  private var retired: [SigningKey] = []

  /// Makes secrets.
  ///
  /// - Parameters:
  ///   - random: 48 random bytes.
  ///   - now: The time in milliseconds since 1970.
  init(random: [UInt8], now: Int64) {
    serverID = Base64URL.encode(random.prefix(16))
    refreshSecret = Array(random.dropFirst(16))
    current = SigningKey(created: now)
  }

  /// The key of a name, or nil.
  subscript(id: String) -> SigningKey? {
    current.id == id ? current : retired.first { $0.id == id }
  }

  /// Puts a new key in the place of the one that signs, which goes on to count for what it signed.
  mutating func rotate(at now: Int64) {
    current.retired = now
    retired.append(current)
    current = SigningKey(created: now)
    retired.removeAll { ($0.retired ?? now) + Self.afterlife <= now }
  }

  /// Whether the key that signs has done so for long enough.
  func isDue(at now: Int64) -> Bool { now - current.created >= Self.lifetime }

  // MARK: JSON

  /// The secrets as they are stored.
  var json: JSONValue {
    .object(
      ("version", .integer(Self.version)),
      ("server", .string(serverID)),
      ("refresh", .string(Base64URL.encode(refreshSecret))),
      ("keys", .array(([current] + retired).map(\.json)))
    )
  }

  /// Reads what ``json`` gives; nil when it is something else.
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
