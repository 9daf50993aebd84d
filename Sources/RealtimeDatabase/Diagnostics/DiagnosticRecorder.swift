import NIOConcurrencyHelpers
import RealtimeProtocol
import RealtimeSync
import RealtimeTree

/// Turns what an engine is told, and what it wants done, into diagnostics.
///
/// It exists only while somebody looks: a database without one pays for a check of nil.
struct DiagnosticRecorder {
  /// How much of a text is told.
  private static let textLimit = 16_384

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

  private func tell(
    _ kind: Diagnostic.Kind,
    _ time: Int64,
    _ title: String,
    _ details: [String] = []
  ) {
    observer(Diagnostic(time: time, kind: kind, title: title, details: details))
  }

  /// A frame of the server.
  func received(_ bytes: [UInt8], at time: Int64) {
    let text = Self.text(bytes)
    tell(.received, time, text, [text])
  }

  /// What the engine is told; the function of a transaction is watched from here on.
  func watching(_ input: RepoInput, at time: Int64) -> RepoInput {
    switch input {
    case .observe(let id, let path, let query, _):
      let detail = query.isDefault ? [] : ["query: \(query.json.canonicalText)"]
      tell(.observing(observer: id.number), time, "observe \(path)", detail)
    case .stopObserving(let id):
      tell(.stopped(observer: id.number), time, "stop observer \(id.number)")
    case .stopObservingAll(let path, _):
      tell(.event, time, "stop all observers of \(path)")
    case .write(let token, let path, let operation):
      let kind = Diagnostic.Kind.writing(request: token.number)
      tell(kind, time, "\(Self.name(operation)) \(path)", Self.lines(operation))
    case .transaction(let token, let path, let appliesLocally, let update):
      attempts.withLockedValue { $0[token.number] = Attempt(number: 0, began: time) }
      tell(.transaction(request: token.number), time, "transaction \(path) begins")
      return .transaction(token, path: path, appliesLocally: appliesLocally) { node in
        let decision = update(node)
        self.attempted(token.number, path, node, decision, at: time)
        return decision
      }
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
    case .send(_, let message):
      let text = Self.hidingCredentials(message.encoded())
      tell(.sent, time, text, [text])
    case .raise(_, let event):
      let key = event.key.map { " \($0.text)" } ?? ""
      let title = "\(Self.name(event.kind)) \(event.path)\(key)"
      tell(.event, time, title, ["value: \(Self.text(event.node))"])
    case .listenerCancelled(let id, let status, let reason):
      tell(.stopped(observer: id.number), time, "refused: \(status.text) \(reason)")
    case .writeCompleted(let token, let status, let reason):
      let words = reason.isEmpty ? status.text : "\(status.text): \(reason)"
      tell(.written(request: token.number), time, "write \(token.number) answered: \(words)")
    case .transactionCompleted(let token, let status, let reason, let committed, let node):
      let attempt = attempts.withLockedValue { $0.removeValue(forKey: token.number) }
      let verdict = committed ? "committed" : status == .ok ? "aborted" : "\(status.text) \(reason)"
      let tries = attempt.map { " after \($0.number) attempts in \(time - $0.began) ms" } ?? ""
      tell(
        .transaction(request: token.number),
        time,
        "transaction \(verdict)\(tries)",
        ["value: \(Self.text(node))"]
      )
    case .connect(_, let host): tell(.connection, time, "connecting \(host ?? "")")
    case .disconnect, .sendKeepalive, .schedule, .cancelTimer, .getCompleted, .credentialRejected,
      .credentialAccepted, .persist, .log:
      break
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
    let proposed: String
    switch decision {
    case .commit(let node): proposed = "proposed: \(Self.text(node))"
    case .abort: proposed = "proposed: nothing, it gives up"
    }
    var details = ["read: \(Self.text(read))", proposed]
    if number > 1 { details.insert("verdict on the attempt before: overtaken by another", at: 0) }
    tell(.transaction(request: request), time, "attempt \(number) at \(path)", details)
  }

  private static func name(_ operation: WriteOperation) -> String {
    switch operation {
    case .set(let node): node.isEmpty ? "remove" : "set"
    case .merge: "update"
    }
  }

  private static func lines(_ operation: WriteOperation) -> [String] {
    switch operation {
    case .set(let node): ["value: \(text(node))"]
    case .merge(let changes): changes.map { "\($0.path): \(text($0.node))" }
    }
  }

  private static func name(_ kind: EventKind) -> String {
    switch kind {
    case .childRemoved: "child_removed"
    case .childAdded: "child_added"
    case .childMoved: "child_moved"
    case .childChanged: "child_changed"
    case .value: "value"
    }
  }

  private static func text(_ node: Node) -> String { cut(node.json(.export).text) }

  private static func text(_ bytes: [UInt8]) -> String {
    cut(String(decoding: bytes.prefix(textLimit + 1), as: UTF8.self))
  }

  private static func cut(_ text: String) -> String {
    text.utf8.count > textLimit ? String(text.prefix(textLimit)) + "…" : text
  }

  /// Requests that carry a credential are told of without it.
  private static func hidingCredentials(_ bytes: [UInt8]) -> String {
    let text = text(bytes)
    return text.contains("\"cred\"") ? "a credential (not shown)" : text
  }
}
