import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeTransport

/// Stands in for the hosted service: it answers the account endpoints with the documented bytes.
///
/// Its forms of the paths are those of the emulator, since it is one server for both hosts.
final class StandIn: Sendable {
  /// A request as it came.
  struct Request: Sendable, Equatable {
    let method: String
    let path: String
    let key: String?
    let contentType: String?
    let body: String
  }

  struct Account: Sendable {
    var uid: String
    var email: String?
    var password: String?
    var displayName: String?
    var photoURL: String?
    var isDisabled = false
    var provider: String
  }

  struct State: Sendable {
    var accounts: [Account] = []
    /// Whose ID tokens and refresh tokens there are, and when they end in milliseconds.
    var idTokens: [String: (uid: String, expires: Int64)] = [:]
    var refreshTokens: [String: String] = [:]
    var lifetime = 3_600
    var lastNumber = 0
    var requests: [Request] = []
    /// Answers that are given in place of the usual ones, by the end of the path.
    var planned: [String: [HTTPAnswer]] = [:]
  }

  let state = NIOLockedValueBox(State())
  let port: Int
  private let listener: ServerListener

  private init(_ listener: ServerListener, port: Int, reference: Reference) {
    self.listener = listener
    self.port = port
    reference.standIn.withLockedValue { $0.standIn = self }
  }

  /// Breaks the circle of the handler and the object that it asks.
  private final class Reference: Sendable {
    struct Weak: Sendable {
      weak var standIn: StandIn?
    }

    let standIn = NIOLockedValueBox(Weak())
  }

  /// Starts to answer on a port of this machine.
  static func start() async throws -> StandIn {
    let reference = Reference()
    let handlers = ServerHandlers(
      answer: { request, eventLoop in
        let standIn = reference.standIn.withLockedValue(\.standIn)
        let answer = standIn?.answer(request)
        return eventLoop.makeSucceededFuture(
          .answer(answer ?? HTTPAnswer(status: 503, error: "not there yet"))
        )
      },
      accept: { _ in ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in }) }
    )
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let listener = try await ServerListener.listen(
      at: .loopback(port: 0),
      on: eventLoop,
      handlers: handlers
    ).get()
    guard case .tcp(_, let port, _) = listener.address else { throw CancellationError() }
    return StandIn(listener, port: port, reference: reference)
  }

  func stop() async throws {
    try await listener.close().get()
  }

  /// What was asked, from the first request on.
  var requests: [Request] { state.withLockedValue(\.requests) }

  /// Gives answers in place of the usual ones to the next requests whose path ends like this.
  func plan(_ end: String, _ answers: HTTPAnswer...) {
    state.withLockedValue { $0.planned[end, default: []] += answers }
  }

  /// Who an ID token belongs to and when it ends, or nil when it was not made here or has ended.
  func owner(of token: String, at now: Int64) -> (uid: String, expires: Int64)? {
    state.withLockedValue { $0.idTokens[token] }.flatMap { $0.expires > now ? $0 : nil }
  }

  static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

  private func answer(_ request: HTTPRequest) -> HTTPAnswer {
    let body = String(decoding: request.body, as: UTF8.self)
    return state.withLockedValue { state in
      state.requests.append(
        Request(
          method: request.method,
          path: request.path,
          key: request.parameter("key"),
          contentType: request.header("Content-Type"),
          body: body
        )
      )
      let end = String(request.path.split(separator: "/").last ?? "")
      if let planned = state.planned[end]?.first {
        state.planned[end]?.removeFirst()
        return planned
      }
      guard request.parameter("key")?.isEmpty == false else { return Self.missingKey }
      if end == "token" { return state.refresh(body) }
      guard let json = try? JSONParser.parse(body) else { return Self.error("INVALID_JSON") }
      switch end {
      case "accounts:signUp": return state.signUp(json)
      case "accounts:signInWithPassword": return state.signIn(json)
      case "accounts:signInWithCustomToken": return state.signInWithCustomToken(json)
      case "accounts:lookup": return state.lookup(json)
      case "accounts:update": return state.update(json)
      case "accounts:delete": return state.delete(json)
      case "accounts:sendOobCode": return state.sendCode(json)
      case "accounts:resetPassword": return state.resetPassword(json)
      default: return HTTPAnswer(status: 404, error: "no such endpoint")
      }
    }
  }
}
