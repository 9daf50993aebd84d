import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeSync

/// Turns what an engine is told, and what it wants done, into diagnostics.
///
/// It exists only while somebody looks: a database without one pays for a check of nil, and one with it
/// for what is kept, but not for words that nobody reads.
struct DiagnosticRecorder {
  /// Who looks.
  let observer: @Sendable (Diagnostic) -> Void

  /// What is known of the attempts of transactions, which report from within the engine.
  private let attempts = NIOLockedValueBox<[Int64: Attempt]>([:])

  private struct Attempt {
    var number: Int
    var began: Int64
  }

  init(_ observer: @escaping @Sendable (Diagnostic) -> Void) {
    self.observer = observer
  }

  private func tell(_ kind: Diagnostic.Kind, _ time: Int64, _ subject: DiagnosticSubject) {
    observer(Diagnostic(time: time, kind: kind, subject))
  }

  private func tell(_ kind: Diagnostic.Kind, _ time: Int64, _ title: String) {
    tell(kind, time, .words(title))
  }

  /// A frame of the server.
  func received(_ bytes: [UInt8], at time: Int64) {
    tell(.received, time, .excerpt(of: bytes))
  }

  /// A message to the server, and the bytes it goes as; credentials are not kept.
  func sent(_ message: ClientMessage, as bytes: [UInt8], at time: Int64) {
    switch message {
    case .request(_, .authenticate), .request(_, .appCheck):
      let words = "a credential (not shown)"
      tell(.sent, time, .words(words, details: [words]))
    case .ping, .control, .request: tell(.sent, time, .excerpt(of: bytes))
    }
  }

  /// What the engine is told; the function of a transaction is watched from here on.
  func watching(_ input: RepoInput, at time: Int64) -> RepoInput {
    switch input {
    case .observe(let id, let path, let query, _):
      tell(.observing(observer: id.number), time, .observation(path, query))
    case .stopObserving(let id):
      tell(.stopped(observer: id.number), time, "stop observer \(id.number)")
    case .stopObservingAll(let path, _):
      tell(.event, time, "stop all observers of \(path)")
    case .write(let token, let path, let operation):
      let write = DiagnosticWrite(operation)
      tell(.writing(request: token.number), time, .write(path, write))
    case .transaction(let token, let path, let appliesLocally, let update):
      return watching(token, path, appliesLocally: appliesLocally, update, at: time)
    case .transportOpened: tell(.connection, time, "connected")
    case .transportClosed(_, let reason): tell(.connection, time, "closed: \(reason)")
    case .goOnline: tell(.connection, time, "go online")
    case .goOffline: tell(.connection, time, "go offline")
    case .keepSynced, .get, .onDisconnect, .cancelOnDisconnect, .purgeOutstandingWrites, .actAs,
      .authenticate, .unauthenticate, .message, .transportProgress, .storeSize, .timerFired:
      break
    }
    return input
  }

  /// What the engine wants done.
  func watch(_ output: RepoOutput, at time: Int64) {
    switch output {
    case .raise(_, let event):
      let node = DiagnosticNode(event.node)
      tell(.event, time, .event(event.kind, event.path, event.key, node))
    case .listenerCancelled(let id, let status, let reason):
      tell(.stopped(observer: id.number), time, "refused: \(status.text) \(reason)")
    case .writeCompleted(let token, let status, let reason):
      let words = reason.isEmpty ? status.text : "\(status.text): \(reason)"
      tell(.written(request: token.number), time, "write \(token.number) answered: \(words)")
    case .transactionCompleted(let token, let status, let reason, let committed, let node):
      let verdict = committed ? "committed" : status == .ok ? "aborted" : "\(status.text) \(reason)"
      ended(token, verdict, node, at: time)
    case .connect(_, let host): tell(.connection, time, "connecting \(host ?? "")")
    case .send, .disconnect, .sendKeepalive, .schedule, .cancelTimer, .getCompleted,
      .credentialRejected, .credentialAccepted, .persist, .log:
      break
    }
  }

  // MARK: Transactions

  private func watching(
    _ token: RequestToken,
    _ path: Path,
    appliesLocally: Bool,
    _ update: @escaping TransactionUpdate,
    at time: Int64
  ) -> RepoInput {
    attempts.withLockedValue { $0[token.number] = Attempt(number: 0, began: time) }
    tell(.transaction(request: token.number), time, "transaction \(path) begins")
    return .transaction(token, path: path, appliesLocally: appliesLocally) { node in
      let decision = update(node)
      self.attempted(token.number, path, node, decision, at: time)
      return decision
    }
  }

  private func attempted(
    _ request: Int64,
    _ path: Path,
    _ read: Node,
    _ decision: TransactionDecision,
    at time: Int64
  ) {
    let number = attempts.withLockedValue { attempts in
      attempts[request, default: Attempt(number: 0, began: time)].number += 1
      return attempts[request]?.number ?? 1
    }
    let proposed: DiagnosticNode?
    switch decision {
    case .commit(let node): proposed = DiagnosticNode(node)
    case .abort: proposed = nil
    }
    let subject = DiagnosticSubject.attempt(
      number,
      path,
      read: DiagnosticNode(read),
      proposed: proposed
    )
    tell(.transaction(request: request), time, subject)
  }

  private func ended(_ token: RequestToken, _ verdict: String, _ node: Node, at time: Int64) {
    let attempt = attempts.withLockedValue { $0.removeValue(forKey: token.number) }
    let tries = attempt.map { " after \($0.number) attempts in \(time - $0.began) ms" } ?? ""
    let title = "transaction \(verdict)\(tries)"
    tell(.transaction(request: token.number), time, .outcome(title, DiagnosticNode(node)))
  }
}
