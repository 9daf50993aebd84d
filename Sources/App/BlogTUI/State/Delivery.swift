/// How far something I did has got.
package enum Delivery: Hashable, Sendable {
  /// Noted here; there is no connection.
  case local
  /// On its way to the server.
  case sent
  /// Stored by the server, since that time in milliseconds.
  case acknowledged(at: Int64)
  /// Refused by the server.
  case refused

  /// How long it is shown that something was stored, in milliseconds.
  static let showsFor: Int64 = 5_000

  /// Whether it is no longer worth a sign.
  func isOver(now: Int64) -> Bool {
    switch self {
    case .acknowledged(let at): now >= at + Self.showsFor
    case .local, .sent, .refused: false
    }
  }
}
