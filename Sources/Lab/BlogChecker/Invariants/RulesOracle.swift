import RealtimeCore
import SecurityRules

/// Every commit is one that the security rules allow to somebody who takes part.
///
/// The rules are evaluated anew on the data before the commit, and not by the server. A commit does
/// not say whose it is: it must be allowed to one of the people, under rules that were in force.
struct RulesOracle: Invariant {
  static let promises: [Promise] = [.g9]
  static let statement = "the rules allow every commit to somebody"

  private let evidence: Evidence
  private let ruleSets: [RuleSet]
  private let people: [String]
  /// Of how many commits one is looked at.
  private let stride: Int
  private var count = 0
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    let changed = evidence.history.lines.compactMap { line in
      if case .rules(let source) = line.event { source } else { nil }
    }
    var sources: [String] = []
    for source in evidence.testimony.rules + changed where !sources.contains(source) {
      sources.append(source)
    }
    ruleSets = sources.compactMap { try? RuleSet(source: $0) }
    people = evidence.history.uids.sorted()
    stride = max(1, evidence.testimony.commitCount / max(1, evidence.options.ruledCommits))
  }

  mutating func observe(_ step: Step) {
    guard !ruleSets.isEmpty, !step.isJump, let timestamp = step.timestamp else { return }
    count += 1
    guard count % stride == 0 else { return }
    let paths = step.changes.map(\.path).filter { !evidence.reckoning.isAdministered($0) }
    guard !paths.isEmpty else { return }
    let isAllowed = candidates(step).contains { uid in
      ruleSets.contains { rules in
        rules.canWrite(
          paths,
          auth: .object(("uid", .string(uid))),
          now: timestamp,
          from: step.before,
          to: step.after
        ).isAllowed
      }
    }
    findings.expect(isAllowed, at: step.place, "the rules allow this commit to nobody") {
      ["changes at \(paths.prefix(8).map(\.description))"]
    }
  }

  mutating func conclude() {
    guard !ruleSets.isEmpty else { return }
    for client in evidence.history.clients where client.header.role != .driver {
      for (view, _) in client.finalViews.values {
        let isAllowed = ruleSets.contains { rules in
          rules.canRead(
            Path(wire: view.path),
            query: view.query,
            auth: .object(("uid", .string(client.header.uid))),
            now: client.header.wallClock,
            root: evidence.finalRoot
          ).isAllowed
        }
        findings.expect(
          isAllowed,
          at: client.header.client,
          "it shows \(view.path), which the rules hide from \(client.header.uid)"
        )
      }
    }
  }

  /// Whose place a path is below which everybody writes of oneself alone, such as who is here.
  ///
  /// Whoever only looks on does that as well, and has no history.
  private static func owner(of path: Path) -> String? {
    switch path.first?.text {
    case "presence", "seen", "users": path.keys.dropFirst().first?.text
    case "typing": path.keys.dropFirst(2).first?.text
    default: nil
    }
  }

  /// The people, those whose names stand in the commit first.
  private func candidates(_ step: Step) -> [String] {
    var likely = step.changes.compactMap { Self.owner(of: $0.path) }
    for change in step.changes {
      let names =
        change.path.keys.map(\.text)
        + [change.node.text(.uid), step.before[change.path].text(.uid)]
        .compactMap(\.self)
      likely += names.filter { evidence.history.uids.contains($0) }
      likely += Self.changedStars(change.path, step).filter { evidence.history.uids.contains($0) }
    }
    return likely + people
  }

  /// Whose stars a change of a whole post adds or removes.
  private static func changedStars(_ path: Path, _ step: Step) -> [String] {
    let (before, after) = (step.before[path][.stars], step.after[path][.stars])
    return before.differences(from: after).map(\.text)
  }
}
