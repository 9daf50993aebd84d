/// The server ends only when it is killed, and answers at the end.
struct ServerAlive: Invariant {
  static let promises: [Promise] = [.g10]
  static let statement = "no client ends or blocks the server"

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func conclude() {
    var last: HistoryEvent.ServerChange?
    for line in evidence.history.driver?.lines ?? [] {
      guard case .server(let change) = line.event else { continue }
      last = change
      findings.expect(
        change != .died,
        at: "at \(line.time.microseconds) µs",
        "the server has ended though nobody had asked it to"
      )
    }
    guard let last else { return }
    findings.expect(last == .up, at: "at the end", "the server does not answer")
  }
}
