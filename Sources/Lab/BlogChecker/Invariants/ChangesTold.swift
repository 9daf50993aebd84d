/// A client that looks at a place is told each change of it, one by one.
///
/// The server may tell less only to who is away or does not keep up. Changes that a client's own write
/// hides, and those of which commits were missed by the witness, are left out.
struct ChangesTold: Invariant {
  static let promises: [Promise] = [.g11]
  static let statement = "no change of a watched place is lost on the way"

  private let evidence: Evidence
  private var versions: PlaceVersions
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    versions = PlaceVersions(evidence.testimony)
  }

  mutating func observe(_ step: Step) { versions.observe(step) }

  mutating func conclude() {
    findings = ToldAccount.findings(evidence, versions) { judgement in
      if case .lost(let violation) = judgement { violation } else { nil }
    }
  }
}

/// A client that looks at a place shows what is committed there within a bounded time.
///
/// The time does not run while the machine lets nobody do anything, nor while something is done to the
/// client.
struct ChangesInTime: Invariant {
  static let promises: [Promise] = [.g12]
  static let statement = "no change of a watched place comes late"

  private let evidence: Evidence
  private var versions: PlaceVersions
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    versions = PlaceVersions(evidence.testimony)
  }

  mutating func observe(_ step: Step) { versions.observe(step) }

  mutating func conclude() {
    findings = ToldAccount.findings(evidence, versions) { judgement in
      if case .late(let violation) = judgement { violation } else { nil }
    }
  }
}

/// A client is told the changes in the order of the commits, whatever places they are of.
struct ChangesInOrder: Invariant {
  static let promises: [Promise] = [.g13]
  static let statement = "changes are told in the order of the commits"

  private let evidence: Evidence
  private var versions: PlaceVersions
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    versions = PlaceVersions(evidence.testimony)
  }

  mutating func observe(_ step: Step) { versions.observe(step) }

  mutating func conclude() {
    findings = ToldAccount.findings(evidence, versions) { judgement in
      if case .older(let violation) = judgement { violation } else { nil }
    }
  }
}

extension ToldAccount {
  /// Follows all clients, and finds what is wrong in one respect; all else counts as checked.
  fileprivate static func findings(
    _ evidence: Evidence,
    _ versions: PlaceVersions,
    _ wrong: @escaping (Judgement) -> Violation?
  ) -> Findings {
    guard !versions.hasGaps else { return Findings() }
    return evidence.history.clients.filter { $0.header.role != .driver }.reduce(
      into: Findings()
    ) { findings, client in
      var judgements: [Judgement] = []
      var account = ToldAccount(client, versions, evidence) { judgements.append($0) }
      account.follow(client)
      for judgement in judgements {
        if let violation = wrong(judgement) {
          findings.expect(false, at: violation.place, violation.problem)
        } else {
          findings.held()
        }
      }
    }
  }
}
