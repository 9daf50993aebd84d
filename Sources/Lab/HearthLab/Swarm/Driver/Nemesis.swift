private import Foundation
private import NIOCore
private import RealtimeCore

/// Injects the planned faults into a swarm, and reverts them.
struct Nemesis: Sendable {
  let stage: SwarmStage
  let history: HistoryWriter

  /// Injects every planned fault at its time, reverts it, and returns how often each kind was
  /// injected.
  func run(
    _ faults: [PlannedFault],
    from start: Moment,
    until isStopped: @Sendable () -> Bool
  ) async -> [FaultKind: Int] {
    await withTaskGroup(of: FaultKind?.self) { group in
      for fault in faults {
        await Pause.until(start.advanced(by: .microseconds(fault.at)), orIf: isStopped)
        guard !isStopped() else { break }
        group.addTask { await self.perform(fault) ? fault.kind : nil }
      }
      var counts: [FaultKind: Int] = [:]
      for await kind in group {
        if let kind { counts[kind, default: 0] += 1 }
      }
      return counts
    }
  }

  private func perform(_ fault: PlannedFault) async -> Bool {
    note(fault, isOver: false)
    defer { note(fault, isOver: true) }
    do {
      if let cluster = stage.cluster, fault.kind.concernsSeveralServers {
        return try await cluster.perform(fault)
      }
      switch fault.kind {
      case .drop, .delay, .partition, .slow: return await disturbNetwork(fault)
      case .duplicate:
        return try await (stage.network?.repeatAll(line: fault.process) ?? 0) > 0
      case .kill: try await crew(fault).killAndRestart(after: fault.duration)
      case .pause:
        await crew(fault).send(SIGSTOP)
        await Pause.lasting(fault.duration)
        await crew(fault).send(SIGCONT)
      case .serverKill:
        guard let server = stage.server else { return false }
        try await server.killAndRestart(after: .milliseconds(fault.strength * 5))
      case .diskFull:
        guard let server = stage.server else { return false }
        await server.fillDisk(leaving: UInt64(fault.strength) * 512, lasting: fault.duration)
      case .rules: return try await changeRules(fault)
      case .hostile: return try await writeHostileText(fault)
      // The clients know the plan and set their clocks themselves.
      case .clock: await Pause.lasting(fault.duration)
      case .freeze, .postgres: return false
      }
      return true
    } catch {
      // Another fault has made the target unavailable; nothing was done.
      return false
    }
  }

  /// Records a fault for everyone it affects.
  private func note(_ fault: PlannedFault, isOver: Bool) {
    stage.options.tell(.fault(fault.kind, isOver: isOver))
    let isOfServer =
      fault.kind.needsOwnServer || stage.cluster != nil && fault.kind.concernsSeveralServers
    let users = stage.settings.users(ofProcess: fault.process % stage.crews.count)
    let concerned = isOfServer ? ["server"] : users.map(SwarmUser.clientName)
    for name in concerned {
      history.append(.fault(name: fault.kind.rawValue, target: name, isOver: isOver))
    }
  }

  private func crew(_ fault: PlannedFault) -> CrewProcess {
    stage.crews[fault.process % stage.crews.count]
  }

  private func disturbNetwork(_ fault: PlannedFault) async -> Bool {
    guard let network = stage.network else { return false }
    let condition: FaultyNetwork.Condition =
      switch fault.kind {
      case .drop: .deaf
      case .delay: .late(.milliseconds(Int64(20 + fault.strength * 3)))
      case .slow: .slow(bytesPerSecond: 2_000 + fault.strength * 200)
      case .partition, .kill, .pause, .duplicate, .serverKill, .clock, .diskFull, .rules, .hostile,
        .freeze, .postgres:
        .cut
      }
    network.set(condition, line: fault.process)
    await Pause.lasting(fault.duration)
    network.set(.sound, line: fault.process)
    return true
  }

  /// Forbids comments for a time.
  private func changeRules(_ fault: PlannedFault) async throws -> Bool {
    guard let rules = stage.rules,
      let strict = Self.withoutComments(rules)
    else { return false }
    try await stage.admin.setRules(strict)
    history.append(.rules(source: strict))
    await Pause.lasting(fault.duration)
    try await restoreRules()
    return true
  }

  /// Restores the usual rules, in up to a hundred attempts.
  func restoreRules() async throws {
    guard let rules = stage.rules else { return }
    for _ in 1..<100 {
      if (try? await stage.admin.setRules(rules)) != nil {
        history.append(.rules(source: rules))
        return
      }
      await Pause.lasting(.milliseconds(100))
    }
    try await stage.admin.setRules(rules)
  }

  /// The same rules, except that no comment is short enough; nil for rules of another kind.
  static func withoutComments(_ rules: String) -> String? {
    let limit = "newData.val().length <= 10000"
    return rules.contains(limit) ? rules.replacing(limit, with: "false") : nil
  }

  /// Writes a post whose texts are meant to break screens, bypassing the rules.
  private func writeHostileText(_ fault: PlannedFault) async throws -> Bool {
    let texts = HostileTexts.permitted + HostileTexts.forbidden
    let title = texts[fault.strength % texts.count]
    let body = texts[(fault.strength + 7) % texts.count]
    let key = "-zhostile\(fault.at)"
    let post: JSONFields = [
      "uid": "hostile", "author": "hostile", "title": title, "body": body, "starCount": 0,
    ]
    let paths = ["posts/\(key)", "user-posts/hostile/\(key)"]
    let number = fault.at
    history.append(.invoked(number, .administer(paths: paths.map { "/" + $0 })))
    try await stage.admin.patch("/", with: .object(paths.map { JSONMember($0, post.object) }))
    history.append(.answered(number, .ok(nil)))
    return true
  }
}

extension PlannedFault {
  var duration: Duration { .microseconds(lasting) }
}
