import RealtimeCore

/// Compares what clients read, at whichever server, with what was acknowledged and seen before.
///
/// A read returns a state of its path. That state was replaced by a later commit, or is the last
/// one; either way it must not have been replaced by the time of a commit that the reader may rely
/// on.
struct ReadTracker {
  /// What a read must not be older than.
  enum Standard {
    /// The writes of the same client that were acknowledged before the read began.
    case ownWrites
    /// What the same client had read or was told before, at whichever server.
    case ownSight
    /// What anybody was acknowledged, had read or was told before.
    case everything
  }

  /// Something from which a client knows of a commit.
  fileprivate struct Proof {
    enum Source {
      case acknowledged(ClientOperation)
      case read(ClientOperation)
      case told(String, Telling)
    }

    let time: Moment
    let revision: Int64
    let source: Source

    var client: String {
      switch source {
      case .acknowledged(let operation), .read(let operation): operation.client
      case .told(let client, _): client
      }
    }
  }

  /// The proofs of ever later commits, in chronological order.
  private struct Floor {
    private let proofs: [Proof]

    init(_ proofs: [Proof]) {
      var rising: [Proof] = []
      for proof in proofs.sorted(by: { $0.time < $1.time })
      where rising.last.map({ $0.revision < proof.revision }) ?? true {
        rising.append(proof)
      }
      self.proofs = rising
    }

    /// The proof of the latest commit before a moment.
    func last(before moment: Moment) -> Proof? {
      let index = proofs.partitioningIndex { $0.time >= moment }
      return index > 0 ? proofs[index - 1] : nil
    }
  }

  private let evidence: Evidence
  private var versions: PathVersions { evidence.paths }

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  // MARK: Reads

  /// Expects every read to be as new as a standard demands.
  func expectReads(_ standard: Standard, _ findings: inout Findings) {
    guard !versions.hasGaps, !evidence.reads.isEmpty else { return }
    let floors = floors(standard)
    for read in evidence.reads {
      let client = read.operation.client
      let floor = floors[standard == .everything ? "" : client]
      let proof = floor?.last(before: read.operation.invoked)
      let newest = versions.states(at: read.path).newest(hash: read.hash)
      // Whether a state existed at all is part of one standard only.
      if standard != .everything, proof == nil || newest == nil { continue }
      findings.expect(
        newest.map { $0 >= proof?.revision ?? $0 } ?? false,
        at: "\(client) at \(read.server ?? "its server"), \(read.operation.invoked)",
        otherwise: newest.map { "\(read.path) is read as of revision \($0), \(standard.reason)" }
          ?? "\(read.path) is read in a state that it never had"
      ) { ["\(read.operation)", "read: \(read.node.summary)"] + (proof.map { ["\($0)"] } ?? []) }
    }
  }

  /// What proves commits by a standard, by client or for everybody under an empty name.
  private func floors(_ standard: Standard) -> [String: Floor] {
    switch standard {
    case .ownWrites: Dictionary(grouping: acknowledgements, by: \.client).mapValues(Floor.init)
    case .ownSight: Dictionary(grouping: sights, by: \.client).mapValues(Floor.init)
    case .everything: ["": Floor(acknowledgements + sights)]
    }
  }

  private var acknowledgements: [Proof] {
    var ignored = Findings()
    return evidence.order.placedOperations(&ignored).compactMap { operation, revision in
      operation.acknowledged.map {
        Proof(time: $0, revision: revision, source: .acknowledged(operation))
      }
    }
  }

  /// All that clients have read or were told, each as a proof of the first commit that made it so.
  private var sights: [Proof] {
    let read = evidence.reads.compactMap { read -> Proof? in
      guard let time = read.operation.acknowledged,
        let revision = versions.states(at: read.path).oldest(hash: read.hash)
      else { return nil }
      return Proof(time: time, revision: revision, source: .read(read.operation))
    }
    let told = evidence.history.clients.flatMap { client in
      client.lines.compactMap { line -> Proof? in
        guard case .told(let telling) = line.event, case .child(let hash?, _) = telling.content,
          let revision = versions.states(at: Path(wire: telling.path)).oldest(hash: hash)
        else { return nil }
        let source = Proof.Source.told(client.header.client, telling)
        return Proof(time: line.time, revision: revision, source: source)
      }
    }
    return read + told
  }

  // MARK: Listeners

  /// Expects that no listener is told anything older than the client's own acknowledged writes.
  func expectTellings(_ findings: inout Findings) {
    guard !versions.hasGaps else { return }
    let written = Dictionary(grouping: acknowledgements, by: \.client)
    for client in evidence.history.clients {
      expectTellings(of: client, after: written[client.header.client] ?? [], &findings)
    }
  }

  private func expectTellings(
    of client: ClientHistory,
    after proofs: [Proof],
    _ findings: inout Findings
  ) {
    var rest = proofs.sorted { $0.time < $1.time }[...]
    var own: [Path: Proof] = [:]
    // What a process tells at first may come from the cache of an earlier one.
    var views: Set<String> = []
    for line in client.lines {
      while let proof = rest.first, proof.time <= line.time {
        rest.removeFirst()
        for path in proof.coveredPaths where own[path]?.revision ?? .min < proof.revision {
          own[path] = proof
        }
      }
      if case .started = line.event { (own, views) = ([:], []) }
      guard case .told(let telling) = line.event else { continue }
      if case .everything = telling.content { views.insert(telling.view) }
      let path = Path(wire: telling.path)
      guard case .child(let hash?, _) = telling.content, views.contains(telling.view),
        let proof = own[path], let newest = versions.states(at: path).newest(hash: hash)
      else { continue }
      findings.expect(
        newest >= proof.revision,
        at: "\(client.header.client), \(telling.view), \(line.time)",
        otherwise: "\(path) is told as of revision \(newest), \(Standard.ownWrites.reason)"
      ) { ["\(proof)"] }
    }
  }
}

extension ReadTracker.Standard {
  /// Why something is too old that does not meet the standard.
  fileprivate var reason: String {
    switch self {
    case .ownWrites: "though a later write of this client was acknowledged before"
    case .ownSight: "though this client has seen a later one before"
    case .everything: "though a later one was acknowledged or seen before"
    }
  }
}

extension ReadTracker.Proof: CustomStringConvertible {
  /// The paths that the acknowledged operation has changed.
  fileprivate var coveredPaths: [Path] {
    if case .acknowledged(let operation) = source { operation.intent.coveredPaths } else { [] }
  }

  fileprivate var description: String {
    let how =
      switch source {
      case .acknowledged(let operation): "acknowledged: \(operation)"
      case .read(let operation): "read: \(operation)"
      case .told(let client, let telling): "told to \(client): \(telling.path) in \(telling.view)"
      }
    return "revision \(revision), \(time), \(how)"
  }
}
