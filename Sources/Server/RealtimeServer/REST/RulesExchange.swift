internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// Shows or replaces the rules of a database, as a peer of its hub; for administrators only.
///
/// State: asking (the rules are being stored) → answered. Confined to the server's event loop.
final class RulesExchange: InternalPeer {
  private let core: DatabaseCore
  private let promise: EventLoopPromise<HTTPReply>
  private var peer: PeerID?

  private init(_ core: DatabaseCore) {
    self.core = core
    promise = core.eventLoop.makePromise()
  }

  /// Carries out a request; the server keeps the exchange alive until it is answered.
  static func run(_ request: RulesRequest, on core: DatabaseCore) -> EventLoopFuture<HTTPReply> {
    let exchange = RulesExchange(core)
    do throws(RESTError) {
      let peer = try core.openInternal(exchange, for: request.credential)
      exchange.peer = peer
      exchange.start(request.action, as: peer)
    } catch {
      exchange.promise.fail(error)
    }
    return exchange.promise.futureResult
  }

  private func start(_ action: RulesRequest.Action, as peer: PeerID) {
    guard core.hub.identity(of: peer) == .administrator else {
      return finish(RESTError.permissionDenied.answer)
    }
    // These are the durable rules: a replacement only counts once it has been answered.
    let rules = core.hub.durableRules
    switch action {
    case .read: finish(.json(200, body: Array(rules.source.utf8)))
    case .readStrictly(isPretty: true): finish(.json(200, body: PrettyJSON.text(rules.json)))
    case .readStrictly(isPretty: false): finish(.json(200, body: Array(rules.json.text.utf8)))
    case .replace(let source, let isRehearsal):
      core.perform(
        core.hub.setRules(
          source: source,
          isRehearsal: isRehearsal,
          by: peer,
          request: 1,
          at: core.context.clock()
        )
      )
      core.rulesChanged()
    }
  }

  private func finish(_ answer: HTTPAnswer) {
    guard let peer else { return }
    self.peer = nil
    promise.succeed(.answer(answer))
    core.closeInternal(peer)
  }

  // MARK: Peer

  func receive(_ message: ServerMessage) {
    guard case .response(_, let response) = message else { return }
    if response.status == .ok {
      finish(.json(200, body: Array(#"{"status":"ok"}"#.utf8)))
    } else {
      finish(core.restError(response).answer)
    }
  }

  func disconnect(_ reason: DisconnectReason) {
    finish(RESTError(503, reason: "\(reason)").answer)
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

  /// Reads a request.
  ///
  /// - Throws: ``RESTError`` when the request is invalid; the rules themselves are not checked.
  init(
    _ request: HTTPRequest,
    from sender: Result<RESTCredential, RESTError>? = nil
  ) throws(RESTError) {
    credential = try RESTCredential.sender(of: request, known: sender)
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
      throw RESTError(405, reason: "the method must be GET or PUT")
    }
  }
}
