/// A client that listens to a path is told each change of it, one by one.
///
/// The server may merge changes only for clients that are offline or do not keep up. Changes hidden
/// by one of the client's own writes are skipped, as are those that the observer has missed.
struct ChangesTold: Invariant {
  static let promises: [Promise] = [.g11]
  static let statement = "no change to a watched path is lost in delivery"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() { findings = DeliveryTracker.findings(.lost, in: evidence) }
}

/// A client that listens to a path shows what is committed there within a bounded time.
///
/// The time does not count while the machine stalls, or while a fault is injected into the client.
struct ChangesInTime: Invariant {
  static let promises: [Promise] = [.g12]
  static let statement = "no change to a watched path arrives late"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() { findings = DeliveryTracker.findings(.late, in: evidence) }
}

/// A client is told the changes in the order of the commits, whatever their paths.
struct ChangesInOrder: Invariant {
  static let promises: [Promise] = [.g13]
  static let statement = "changes are delivered in the order of their commits"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() { findings = DeliveryTracker.findings(.older, in: evidence) }
}

extension DeliveryTracker {
  /// Follows all clients and collects violations of one kind; everything else counts as checked.
  fileprivate static func findings(_ fault: Fault, in evidence: Evidence) -> Findings {
    var findings = Findings()
    if evidence.paths.hasGaps { return findings }
    for client in evidence.history.clients where client.header.role != .driver {
      var tracker = DeliveryTracker(client, evidence: evidence)
      tracker.follow(client)
      let found = tracker.violations.filter { $0.fault == fault }.map(\.violation)
      findings.held(tracker.rightCount + tracker.violations.count - found.count)
      for violation in found {
        findings.expect(false, at: violation.location, otherwise: violation.problem)
      }
    }
    return findings
  }
}
