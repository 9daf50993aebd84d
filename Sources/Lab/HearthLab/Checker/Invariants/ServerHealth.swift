/// What was acknowledged before the server was killed still exists afterwards.
struct CrashDurability: Invariant {
  static let promises: [Promise] = [.i11, .g1]
  static let statement = "acknowledged writes survive a killed server"

  let evidence: Evidence
  var findings: Findings

  mutating func observeCrash(_ crash: Standstill) {
    let model = evidence.model
    model.compareComments(at: crash, with: &findings)
    model.comparePosts(at: crash, with: &findings)
    model.compareStars(at: crash, with: &findings)
  }
}

/// The server ends only when it is killed, and answers at the end.
struct ServerAlive: Invariant {
  static let promises: [Promise] = [.g10]
  static let statement = "no client stops or blocks the server"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    var last: HistoryEvent.ServerChange?
    for line in evidence.history.driver?.lines ?? [] {
      guard case .server(let change) = line.event else { continue }
      last = change
      findings.expect(
        change != .died,
        at: "at \(line.time.microseconds) µs",
        otherwise: "the server stopped though nobody asked it to"
      )
    }
    guard let last else { return }
    findings.expect(last == .up, at: "at the end", otherwise: "the server does not answer")
  }
}

/// The server never exceeds its limits for memory, descriptors and response times.
struct Bounds: Invariant {
  static let promises: [Promise] = [.i14]
  static let statement = "the server's memory, descriptors and answers stay bounded"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    let options = evidence.options
    for line in evidence.history.driver?.lines ?? [] {
      guard case .sample(let bytes, let descriptors, let p99) = line.event else { continue }
      let location = "at \(line.time.microseconds) µs"
      findings.expect(
        bytes <= options.residentBytes,
        at: location,
        otherwise:
          "the server uses \(bytes) bytes of memory, and may use \(options.residentBytes)"
      )
      findings.expect(
        descriptors <= options.descriptors,
        at: location,
        otherwise: "the server has \(descriptors) descriptors, and may have \(options.descriptors)"
      )
      findings.expect(
        Duration.microseconds(p99) <= options.p99,
        at: location,
        otherwise: "one answer in a hundred takes \(p99) µs, and may take \(options.p99)"
      )
    }
  }
}
