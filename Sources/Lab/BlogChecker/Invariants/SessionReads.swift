/// A client never forgets: its acknowledged comments and what it has once shown stay, also when it
/// was away or started anew.
///
/// Lists count as shown when they are the server's; a client shows what it has kept before that.
struct SessionReads: Invariant {
  static let promises: [Promise] = [.g6]
  static let statement = "a client reads its own writes and never forgets"

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func conclude() {
    for client in evidence.history.clients { check(client) }
  }

  private mutating func check(_ client: ClientHistory) {
    let operations = Dictionary(
      client.operations.map { ($0.number, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    var acknowledged: [String: Set<String>] = [:]
    var shown: [String: Set<String>] = [:]
    for line in client.lines {
      switch line.event {
      case .answered(let number, .ok):
        guard case .comment(let post, let key, _)? = operations[number]?.intent else { continue }
        acknowledged[post, default: []].insert(key)
      case .shown(let showing):
        guard case .comments(let post, let list) = showing.content else { continue }
        let keys = Set(list)
        let place = "\(client.header.client), \(showing.view), event \(showing.order)"
        expect(acknowledged[post], in: keys, of: post, place, line.time, "its own comment")
        expect(shown[post], in: keys, of: post, place, line.time, "a comment shown before")
        shown[post] = keys.filter { !isOwnUnsettled(CommentKey(post, $0), client) }
      case .started, .invoked, .answered, .connection, .finalView, .screen, .fault, .server, .rules,
        .sample, .told, .stalled, .coalesced,
        .ended:
        break
      }
    }
  }

  /// Whether a comment is one of the client's own that may yet be taken back.
  private func isOwnUnsettled(_ key: CommentKey, _ client: ClientHistory) -> Bool {
    guard let creation = evidence.reckoning.comments[key]?.creation else { return false }
    return creation.client == client.header.client && !creation.isAcknowledged
  }

  private mutating func expect(
    _ expected: Set<String>?,
    in keys: Set<String>,
    of post: String,
    _ place: String,
    _ time: Moment,
    _ what: String
  ) {
    for key in expected ?? [] {
      if keys.contains(key) {
        findings.held()
        continue
      }
      let deletions = evidence.reckoning.comments[CommentKey(post, key)]?.deletions ?? []
      findings.expect(
        deletions.contains { !$0.isRefused && $0.invoked <= time },
        at: place,
        "\(what) is missing from the comments on \(post)"
      ) { [key] }
    }
  }
}
