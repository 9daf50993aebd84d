internal import NIOCore
internal import RealtimeCore
internal import RealtimeHub
internal import RealtimeTransport
internal import SecurityRules

/// Shows or replaces the rules of a database as a peer of its hub, for administrators only.
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

  /// Carries a request out; the server holds the exchange until it is answered.
  static func run(_ request: RulesRequest, on core: DatabaseCore) -> EventLoopFuture<HTTPReply> {
    let exchange = RulesExchange(core)
    do throws(RESTError) {
      let peer = try core.openInternal(exchange, for: request.credential)
      exchange.peer = peer
      exchange.start(request.action, peer)
    } catch {
      exchange.promise.fail(error)
    }
    return exchange.promise.futureResult
  }

  private func start(_ action: RulesRequest.Action, _ peer: PeerID) {
    guard core.hub.identity(of: peer) == .administrator else {
      return finish(RESTError.permissionDenied.answer)
    }
    // What is shown is what a replacement that was answered has left.
    let rules = core.hub.durableRules
    switch action {
    case .read: finish(.json(200, Array(rules.source.utf8)))
    case .readStrictly(isPretty: true): finish(.json(200, PrettyJSON.text(rules.json)))
    case .readStrictly(isPretty: false): finish(.json(200, Array(rules.json.text.utf8)))
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
      finish(.json(200, Array(#"{"status":"ok"}"#.utf8)))
    } else {
      finish(core.restError(response).answer)
    }
  }

  func disconnect(_ reason: DisconnectReason) {
    finish(RESTError(503, "\(reason)").answer)
  }
}
