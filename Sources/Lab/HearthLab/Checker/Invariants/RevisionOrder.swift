import RealtimeCore

/// Commits have one order, which matches real time, and each transaction has read the state before
/// it.
///
/// An operation is identified among the commits by what it wrote. If it was acknowledged before
/// another began, it has the lower revision. The result of a transaction is that of its own commit,
/// and a read, at whichever server, returns no state that was replaced by a commit of which anybody
/// knew when the read began.
struct RevisionOrder: Invariant {
  static let promises: [Promise] = [.g2]
  static let statement = "commits have one order, which matches real time"

  let evidence: Evidence
  var findings: Findings
  private var revision: Int64
  private var replayed: Node

  init(evidence: Evidence, findings: Findings) {
    self.evidence = evidence
    self.findings = findings
    revision = evidence.commits.revision
    replayed = evidence.commits.root
  }

  mutating func observe(_ step: Step) {
    replayed = step.after
    if !step.isJump {
      findings.expect(
        step.revision == revision + 1,
        at: step.location,
        otherwise: "it follows revision \(revision)"
      )
    }
    revision = step.revision
  }

  mutating func conclude() {
    if evidence.commits.finalRevision == revision {
      findings.expect(
        replayed == evidence.finalRoot,
        at: "revision \(revision)",
        otherwise: "the commits do not produce the final data"
      ) {
        replayed.differences(from: evidence.finalRoot).map { key in
          "/\(key): \(replayed[key].summary), and read as a whole "
            + "\(evidence.finalRoot[key].summary)"
        }
      }
    }
    checkRealTime(evidence.order.placedOperations(&findings))
    ReadTracker(evidence).expectReads(.everything, &findings)
  }

  /// No operation that began after another was acknowledged has a lower revision than that one.
  private mutating func checkRealTime(_ placed: [CommitOrder.Placed]) {
    var latest: CommitOrder.Placed?
    for entry in placed {
      if let latest, let end = entry.operation.acknowledged {
        findings.expect(
          latest.operation.invoked <= end,
          at: "revision \(entry.revision)",
          otherwise: "an operation was acknowledged before another began that has a lower revision"
        ) {
          [
            "\(latest.revision): \(latest.operation)", "\(entry.revision): \(entry.operation)",
          ]
        }
      }
      if latest.map({ $0.operation.invoked < entry.operation.invoked }) ?? true { latest = entry }
    }
  }
}
