/// A part of the program that parses untrusted input, with properties that must hold for any bytes.
///
/// The name of a case is the name of the directory with its examples in `assets/fuzz`.
enum FuzzTarget: String, CaseIterable, Sendable {
  /// WebSocket frames, their fragments, and the segments of messages.
  case frames
  /// Whole connections: HTTP heads, bodies, handshakes, and what follows.
  case connections
  /// Messages of clients and of servers.
  case messages
  /// Sessions of two clients with the server engine.
  case sessions
  /// JSON, and the data that it represents.
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
  /// The input of a terminal: keys, pastes, the mouse and replies.
  case keys
  /// Credentials.
  case tokens
  /// Account requests, and the tokens of accounts.
  case identities

  /// Makes the part parse an input, and checks the properties.
  ///
  /// - Throws: ``BrokenProperty`` when one does not hold.
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
    case .keys: try KeyCheck.check(input)
    case .tokens: try TokenCheck.check(input)
    case .identities: try IdentityCheck.check(input)
    }
  }
}
