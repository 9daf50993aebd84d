/// A part of the program that reads what strangers write, with what must hold for any bytes at all.
///
/// The name of a case is the name of the folder of its examples in `assets/fuzz`.
enum FuzzTarget: String, CaseIterable, Sendable {
  /// WebSocket frames, their fragments, and the segments of messages.
  case frames
  /// Whole connections: HTTP heads, bodies, handshakes, and what follows.
  case connections
  /// Messages of clients and of servers.
  case messages
  /// Sessions of two clients with the server engine.
  case sessions
  /// JSON, and the data that it stands for.
  case json
  /// Security rules, their expressions and regular expressions.
  case rules
  /// Query objects of the protocol.
  case queries
  /// Query parameters and options of REST.
  case parameters
  /// Paths, keys and percent-encoding.
  case paths
  /// Database URLs.
  case urls
  /// Text that is shown on a terminal.
  case text
  /// Credentials.
  case tokens
  /// Requests about accounts, and the tokens of accounts.
  case identities

  /// Lets the part read an input, and checks what must hold.
  ///
  /// - Throws: ``BrokenProperty`` when it does not hold.
  func check(_ input: [UInt8]) throws(BrokenProperty) {
    switch self {
    case .frames: try FrameCheck.check(input)
    case .connections: try ConnectionCheck.check(input)
    case .messages: try MessageCheck.check(input)
    case .sessions: try SessionCheck.check(input)
    case .json: try JSONCheck.check(input)
    case .rules: try RulesCheck.check(input)
    case .queries: try QueryCheck.check(input)
    case .parameters: try ParameterCheck.check(input)
    case .paths: try PathCheck.check(input)
    case .urls: try URLCheck.check(input)
    case .text: try TextCheck.check(input)
    case .tokens: try TokenCheck.check(input)
    case .identities: try IdentityCheck.check(input)
    }
  }
}
