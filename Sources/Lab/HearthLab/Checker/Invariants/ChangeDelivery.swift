/// A client that listens to a path is told each change of it, one by one.
///
/// The server may merge changes only for clients that are offline or do not keep up. Changes hidden
/// by one of the client's own writes are skipped, as are those that the observer has missed.
struct ChangesTold: Invariant {
  static let promises: [Promise] = [.g11]
  static let statement = "no change to a watched path is lost in delivery"

  private let evidence: Evidence
  private var versions: PathVersions
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    versions = PathVersions(evidence.commits)
  }

  mutating func observe(_ step: Step) { versions.observe(step) }

  mutating func conclude() {
    findings = DeliveryTracker.findings(in: evidence, versions: versions) { judgement in
      if case .lost(let violation) = judgement { violation } else { nil }
    }
  }
}

/// A client that listens to a path shows what is committed there within a bounded time.
///
/// The time does not count while the machine stalls, or while a fault is injected into the client.
struct ChangesInTime: Invariant {
  static let promises: [Promise] = [.g12]
  static let statement = "no change to a watched path arrives late"

  private let evidence: Evidence
  private var versions: PathVersions
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    versions = PathVersions(evidence.commits)
  }

  mutating func observe(_ step: Step) { versions.observe(step) }

  mutating func conclude() {
    findings = DeliveryTracker.findings(in: evidence, versions: versions) { judgement in
      if case .late(let violation) = judgement { violation } else { nil }
    }
  }
}

/// A client is told the changes in the order of the commits, whatever their paths.
struct ChangesInOrder: Invariant {
  static let promises: [Promise] = [.g13]
  static let statement = "changes are delivered in the order of their commits"

  private let evidence: Evidence
  private var versions: PathVersions
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    versions = PathVersions(evidence.commits)
  }

  mutating func observe(_ step: Step) { versions.observe(step) }

  mutating func conclude() {
    findings = DeliveryTracker.findings(in: evidence, versions: versions) { judgement in
      if case .older(let violation) = judgement { violation } else { nil }
    }
  }
}

extension DeliveryTracker {
  /// Follows all clients and collects violations of one kind; everything else counts as checked.
  fileprivate static func findings(
    in evidence: Evidence,
    versions: PathVersions,
    wrong: @escaping (Judgement) -> Violation?
  ) -> Findings {
    guard !versions.hasGaps else { return Findings() }
    return evidence.history.clients.filter { $0.header.role != .driver }.reduce(
      into: Findings()
    ) { findings, client in
      var judgements: [Judgement] = []
      var account = DeliveryTracker(client, versions: versions, evidence: evidence) {
        judgements.append($0)
      }
      account.follow(client)
      for judgement in judgements {
        if let violation = wrong(judgement) {
          findings.expect(false, at: violation.location, otherwise: violation.problem)
        } else {
          findings.held()
        }
      }
    }
  }
}
