internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// Shows or replaces the rules of a database, as a peer of its hub; for administrators only.
enum RulesExchange {
  static func run(_ request: RulesRequest, on core: DatabaseCore) -> EventLoopFuture<HTTPReply> {
    let peer = RequestPeer(on: core)
    return peer.open(for: request.credential) { start(request.action, of: peer, as: $0) }
  }

  private static func start(_ action: RulesRequest.Action, of peer: RequestPeer, as id: PeerID) {
    let core = peer.core
    guard core.hub.identity(of: id) == .administrator else {
      return peer.finish(RESTError.permissionDenied.answer)
    }
    // These are the durable rules: a replacement only counts once it has been answered.
    let rules = core.hub.durableRules
    switch action {
    case .read: peer.finish(.json(200, body: Array(rules.source.utf8)))
    case .readStrictly(isPretty: true): peer.finish(.json(200, body: PrettyJSON.text(rules.json)))
    case .readStrictly(isPretty: false):
      peer.finish(.json(200, body: Array(rules.json.text.utf8)))
    case .replace(let source, let isRehearsal):
      let number = peer.expect { responses in
        peer.finish(
          responses[0].status == .ok
            ? .json(200, body: Array(#"{"status":"ok"}"#.utf8))
            : core.restError(responses[0]).answer
        )
      }
      core.perform(
        core.hub.setRules(
          source: source,
          isRehearsal: isRehearsal,
          by: id,
          request: number,
          at: core.context.clock()
        )
      )
      core.rulesChanged()
    }
  }
}

/// A request to read or to replace the security rules of a database.
struct RulesRequest {
  enum Action {
    /// Show the document as it was written, with comments.
    case read
    /// Show the document as JSON, without comments.
    case readStrictly(isPretty: Bool)
    /// Put a document in force, or only check it for mistakes.
    case replace(source: String, isRehearsal: Bool)
  }

  private static let path = "/.settings/rules.json"

  let credential: RESTCredential
  let action: Action

  /// Whether a request concerns the rules.
  static func isMeant(by request: HTTPRequest) -> Bool {
    request.path.split(separator: "/").joined(separator: "/") == path.dropFirst()
  }

  /// Reads a request, but does not check the rules themselves.
  init(
    _ request: HTTPRequest,
    from sender: Result<RESTCredential, RESTError>
  ) throws(RESTError) {
    credential = try sender.get()
    switch try RESTRequest.method(of: request) {
    case .get, .head:
      switch request.parameter("format") {
      case nil: action = .read
      case "strict": action = .readStrictly(isPretty: request.parameter("print") == "pretty")
      case _?: throw RESTError(400, reason: "format must be strict")
      }
    case .put:
      guard request.header("if-match") == nil, request.header("if-none-match") == nil else {
        throw RESTError(400, reason: "rules have no versions to compare")
      }
      guard let source = String(validating: request.body, as: UTF8.self) else {
        throw RESTError(400, reason: "Line 1: the rules are not UTF-8 text")
      }
      if source.allSatisfy(\.isWhitespace) { throw RESTError.missingData }
      action = .replace(source: source, isRehearsal: request.parameter("dryRun") == "true")
    case .post, .patch, .delete, .options:
      throw RESTError(
        405,
        reason: "the method must be GET or PUT",
        allowed: [.get, .head, .put, .options]
      )
    }
  }
}
