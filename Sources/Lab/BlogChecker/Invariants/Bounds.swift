/// The server never takes more memory, descriptors or time than it may.
struct Bounds: Invariant {
  static let promises: [Promise] = [.i14]
  static let statement = "the server's memory, descriptors and answers stay bounded"

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func conclude() {
    let options = evidence.options
    for line in evidence.history.driver?.lines ?? [] {
      guard case .sample(let bytes, let descriptors, let p99) = line.event else { continue }
      let place = "at \(line.time.microseconds) µs"
      findings.expect(
        bytes <= options.residentBytes,
        at: place,
        "the server takes \(bytes) bytes of memory, and may take \(options.residentBytes)"
      )
      findings.expect(
        descriptors <= options.descriptors,
        at: place,
        "the server has \(descriptors) descriptors, and may have \(options.descriptors)"
      )
      findings.expect(
        Duration.microseconds(p99) <= options.p99,
        at: place,
        "one answer in a hundred takes \(p99) µs, and may take \(options.p99)"
      )
    }
  }
}
