import RealtimeCore

/// What was acknowledged before the server was killed is there afterwards.
struct CrashDurability: Invariant {
  static let promises: [Promise] = [.i11, .g1]
  static let statement = "what was acknowledged survives a killed server"

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func observeCrash(_ crash: Crash) {
    let reckoning = evidence.reckoning
    reckoning.compareComments(in: crash.root, at: crash.period, crash.place, &findings)
    reckoning.comparePosts(in: crash.root, at: crash.period, crash.place, &findings)
    reckoning.compareStars(in: crash.root, at: crash.period, crash.place, &findings)
  }
}
