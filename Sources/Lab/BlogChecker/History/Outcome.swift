package import RealtimeCore

/// How an operation ended, as far as its client was told.
package enum Outcome: Hashable, Sendable {
  /// It was acknowledged, with the value that was read or written where there is one.
  ///
  /// For an increment and a transaction on a star it is the number afterwards, for a read the value.
  case ok(JSONValue?)
  /// It was refused; nothing of it must ever be seen.
  case refused(String)
  /// The client cannot know: it may have happened or not.
  case unknown(String)

  var members: [JSONMember] {
    switch self {
    case .ok(let value): value.map { [JSONMember("value", $0)] } ?? []
    case .refused(let reason), .unknown(let reason): [JSONMember("reason", .string(reason))]
    }
  }
}
