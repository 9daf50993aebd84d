/// Events of a view are counted without a gap, and none shows what was never committed.
struct EventOrder: Invariant {
  static let promises: [Promise] = [.g5]
  static let statement = "views show committed states only, without a gap"

  private let evidence: Evidence
  private var versions: PostVersions
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    versions = PostVersions(evidence.testimony)
  }

  mutating func observe(_ step: Step) { versions.observe(step) }

  mutating func conclude() {
    for client in evidence.history.clients {
      checkNumbers(of: client)
      for shown in ShownPosts(client) {
        let fit = versions.fit(
          shown.post,
          starCount: shown.starCount,
          stars: shown.stars,
          version: shown.version,
          from: 0
        )
        var isKnown = true
        if case .never = fit { isKnown = versions.hasGaps }
        findings.expect(
          isKnown,
          at: "\(client.header.client), \(shown.showing.view), event \(shown.showing.order)",
          "post \(shown.post) is shown with \(shown.starCount) stars in a state it never had"
        )
      }
    }
  }

  private mutating func checkNumbers(of client: ClientHistory) {
    var last: [String: Int] = [:]
    for line in client.lines {
      switch line.event {
      case .started: last = [:]
      case .shown(let showing):
        let expected = (last[showing.view] ?? 0) + 1
        findings.expect(
          showing.order == expected,
          at: "\(client.header.client), \(showing.view)",
          "event \(showing.order) comes where \(expected) was due"
        )
        last[showing.view] = showing.order
      case .invoked, .answered, .connection, .finalView, .screen, .fault, .server, .rules,
        .sample, .told, .stalled, .coalesced,
        .ended:
        break
      }
    }
  }
}
