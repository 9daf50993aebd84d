import NIOConcurrencyHelpers
import RealtimeCore

/// Turns an engine's inputs and outputs into diagnostics.
///
/// It exists only while the database is watched. Without it, a database only pays for a nil check;
/// with it, the database pays for keeping the data, but not for text that is never read.
struct DiagnosticRecorder {
  let observer: @Sendable (Diagnostic) -> Void
  /// What causes the request that is being handled; nil if its caller does not say.
  var cause: String?

  /// The attempts of transactions, which are reported from within the engine.
  private let attempts = NIOLockedValueBox<[Int64: Attempt]>([:])

  /// The unanswered writes: their titles, paths and start times.
  private let writes = NIOLockedValueBox<[Int64: (title: String, path: Path, began: Int64)]>([:])

  private struct Attempt {
    let path: Path
    var number: Int
    var began: Int64
  }

  init(_ observer: @escaping @Sendable (Diagnostic) -> Void) {
    self.observer = observer
  }

  private func tell(
    _ kind: Diagnostic.Kind,
    at time: Int64,
    _ subject: DiagnosticSubject,
    path: Path? = nil,
    cause: String? = nil
  ) {
    observer(Diagnostic(time: time, kind: kind, subject, at: path, cause: cause))
  }

  func received(_ bytes: [UInt8], at time: Int64) {
    let subject = DiagnosticSubject.excerpt(of: bytes)
    observer(Diagnostic(time: time, kind: .received, subject, frameSize: bytes.count))
  }

  /// Records a message to the server and the writes whose data it carries, without credentials.
  func sent(
    _ message: ClientMessage,
    as bytes: [UInt8],
    carrying carried: [RequestToken] = [],
    at time: Int64
  ) {
    let subject: DiagnosticSubject
    switch message {
    case .request(_, .authenticate), .request(_, .appCheck):
      let words = "a credential (not shown)"
      subject = .words(words, details: [words])
    case .ping, .control, .request: subject = .excerpt(of: bytes)
    }
    observer(
      Diagnostic(
        time: time,
        kind: .sent,
        subject,
        frameSize: bytes.count,
        carried: carried.map(\.number)
      )
    )
  }

  /// Records an input and returns it; a transaction's block is wrapped to record its attempts.
  func watching(_ input: RepoInput, at time: Int64) -> RepoInput {
    switch input {
    case .observe(let id, let path, let query, _):
      tell(.observing(observer: id.number), at: time, .observation(path, query))
    case .stopObserving(let id):
      tell(.stopped(observer: id.number), at: time, .words("stop observer \(id.number)"))
    case .write(let token, let path, let operation):
      let write = DiagnosticWrite(operation)
      writes.withLockedValue { $0[token.number] = ("\(write.name) \(path)", path, time) }
      tell(.writing(request: token.number), at: time, .write(path, write), cause: cause)
    case .transaction(let token, let path, let appliesLocally, let update):
      let request = token.number
      attempts.withLockedValue { $0[request] = Attempt(path: path, number: 0, began: time) }
      let words = DiagnosticSubject.words("transaction \(path) begins")
      tell(.transaction(request: request), at: time, words, path: path, cause: cause)
      return .transaction(token, path: path, appliesLocally: appliesLocally) { node in
        let decision = update(node)
        self.attempted(request, path: path, read: node, decision: decision, at: time)
        return decision
      }
    case .transportOpened: tell(.connection, at: time, .words("connected"))
    case .transportClosed(_, let reason): tell(.connection, at: time, .words("closed: \(reason)"))
    case .goOnline: tell(.connection, at: time, .words("go online"))
    case .goOffline: tell(.connection, at: time, .words("go offline"))
    case .keepSynced, .get, .onDisconnect, .cancelOnDisconnect, .purgeOutstandingWrites, .actAs,
      .authenticate, .unauthenticate, .probe, .message, .transportProgress, .storeSize, .timerFired:
      break
    }
    return input
  }

  func watch(_ output: RepoOutput, at time: Int64) {
    switch output {
    case .raise(_, let event):
      let node = DiagnosticNode(event.node)
      tell(.event, at: time, .event(event.kind, event.path, event.key, node))
    case .listenerCancelled(let id, let outcome):
      tell(.stopped(observer: id.number), at: time, .words("refused: \(outcome)"))
    case .writeCompleted(let token, let outcome):
      let status = outcome.status.text
      let words = outcome.reason.isEmpty ? status : "\(status): \(outcome.reason)"
      let write = writes.withLockedValue { $0.removeValue(forKey: token.number) }
      let title =
        write.map { "\($0.title) answered after \(time - $0.began) ms: \(words)" }
        ?? "write \(token.number) answered: \(words)"
      tell(.written(request: token.number), at: time, .words(title), path: write?.path)
    case .transactionCompleted(let token, let outcome, let committed, let node):
      let verdict = committed ? "committed" : outcome.status == .ok ? "aborted" : "\(outcome)"
      ended(token, verdict: verdict, node: node, at: time)
    case .connect(_, let host): tell(.connection, at: time, .words("connecting \(host ?? "")"))
    case .sendKeepalive:
      // A frame with the digit 0, as the protocol has it.
      observer(Diagnostic(time: time, kind: .sent, .frame([0x30]), frameSize: 1))
    case .send, .disconnect, .schedule, .cancelTimer, .getCompleted,
      .credentialRejected, .credentialAccepted, .persist, .log:
      break
    }
  }

  // MARK: Transactions

  private func attempted(
    _ request: Int64,
    path: Path,
    read: Node,
    decision: TransactionDecision,
    at time: Int64
  ) {
    let number = attempts.withLockedValue { attempts in
      attempts[request, default: Attempt(path: path, number: 0, began: time)].number += 1
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
    tell(.transaction(request: request), at: time, subject)
  }

  private func ended(_ token: RequestToken, verdict: String, node: Node, at time: Int64) {
    let attempt = attempts.withLockedValue { $0.removeValue(forKey: token.number) }
    let tries =
      attempt.map {
        " after \($0.number) \($0.number == 1 ? "try" : "tries") in \(time - $0.began) ms"
      } ?? ""
    let end = DiagnosticSubject.outcome("transaction \(verdict)\(tries)", DiagnosticNode(node))
    tell(.transaction(request: token.number), at: time, end, path: attempt?.path)
  }
}
