import RealtimeServer
import Testing

@Suite("A lease whose database cannot be served")
struct LeadershipTests {
  private let me = ClusterServer(id: ServerID("me"), host: "s-1")
  private let others = [
    ClusterServer(id: ServerID("a"), host: "s-2"), ClusterServer(id: ServerID("b"), host: "s-3"),
  ]

  private func lease(_ id: String = "1", holder: String = "me") -> Lease {
    Lease(database: "d", id: id, epoch: 1, holder: ServerID(holder), duration: .seconds(4))
  }

  private func view(_ lease: Lease?, servers: [ClusterServer]) -> ClusterView {
    ClusterView(servers: servers, leases: lease.map { [$0] } ?? [], time: .zero)
  }

  /// A server that leads a database.
  private func leader(beside others: [ClusterServer]) throws -> Leadership {
    var machine = Leadership(me)
    var outputs = machine.handle(.time, at: .zero)
    #expect(outputs == [.announce])
    let free = view(nil, servers: others + [me])
    outputs = machine.handle(.announced(.success(free)), at: .milliseconds(1))
    // A handed lease is taken without a request.
    var held = lease()
    held.renewal = 0
    _ = machine.handle(.time, at: .seconds(1))
    outputs = machine.handle(
      .announced(.success(view(held, servers: others + [me]))),
      at: .milliseconds(1_001)
    )
    guard case .acquire("d", _, _)? = outputs.first else {
      Issue.record("\(outputs)")
      return machine
    }
    outputs = machine.handle(.acquired("d", .success(lease())), at: .milliseconds(1_002))
    guard case .open(lease(), _)? = outputs.first else {
      Issue.record("\(outputs)")
      return machine
    }
    return machine
  }

  /// Answers announcements, with the lease renewed, for a while; returns all other outputs.
  private func renew(
    _ machine: inout Leadership,
    _ lease: Lease,
    servers: [ClusterServer],
    from start: Int,
    seconds: Int
  ) -> [Leadership.Output] {
    var found: [Leadership.Output] = []
    var lease = lease
    for step in 0..<(seconds * 4) {
      let now = Duration.seconds(start) + .milliseconds(250 * step)
      found += machine.handle(.time, at: now)
      // Without an announcement on its way, this has no effect.
      lease.renewal += 1
      found += machine.handle(.announced(.success(view(lease, servers: servers))), at: now)
    }
    return found.filter { if case .extend = $0 { false } else { $0 != .announce } }
  }

  @Test("A server that cannot use the storage gives its lease to another at once")
  func yields() throws {
    var machine = try leader(beside: others)
    var outputs = machine.handle(.lost("d", lease(), .stuck), at: .seconds(2))
    let given = outputs.compactMap { output -> ServerID? in
      if case .release(lease(), let successor) = output { successor } else { nil }
    }
    #expect(given.count == 1, "the closing of the database is not waited for: \(outputs)")
    let next = try #require(given.first)
    #expect(others.map(\.id).contains(next))
    // Requests wait until the database is closed and the lease is released.
    outputs = machine.handle(.asked("d", request: 1), at: .milliseconds(2_010))
    outputs += machine.handle(.closed("d"), at: .milliseconds(2_020))
    #expect(!outputs.contains { if case .acquire = $0 { true } else { false } })
    outputs = machine.handle(.released("d"), at: .milliseconds(2_030))
    #expect(!outputs.contains { if case .acquire = $0 { true } else { false } }, "\(outputs)")
    // The announcement that was on its way before does not count.
    let after = view(lease("2", holder: next.description), servers: others + [me])
    for time in [2_040, 2_070, 2_100, 2_200, 2_250] {
      outputs += machine.handle(.announced(.success(after)), at: .milliseconds(time))
    }
    let server = try #require(others.first { $0.id == next })
    #expect(outputs.contains(.answer(request: 1, .there(server))), "\(outputs)")
  }

  @Test("Servers that cannot use the storage try one after another")
  func turns() throws {
    let servers = others + [me]
    var visited: [ServerID] = []
    var server = me
    for _ in servers {
      visited.append(server.id)
      var machine = Leadership(server)
      let held = lease(holder: server.id.description)
      _ = machine.handle(.time, at: .zero)
      _ = machine.handle(.announced(.success(view(held, servers: servers))), at: .zero)
      _ = machine.handle(.acquired("d", .success(held)), at: .milliseconds(1))
      for output in machine.handle(.lost("d", held, .stuck), at: .milliseconds(2)) {
        if case .release(_, let next) = output {
          server = try #require(servers.first { $0.id == next })
        }
      }
    }
    #expect(Set(visited).count == 3)
    #expect(server.id == me.id)
  }

  @Test("A name that another database has got is no loss, but batches missing after a failover are")
  func nameUsedAgain() {
    var machine = Leadership(me)
    _ = machine.handle(.time, at: .zero)
    let old = BatchPosition(batch: 5, id: "old", revision: 3)
    let new = BatchPosition(batch: 1, id: "new", revision: 0)
    var losses: [StorageLoss] = []
    for (second, (found, timeline)) in [(old, 1), (new, 1), (old, 1), (new, 2)].enumerated() {
      var seen = view(nil, servers: [me])
      seen.history = StorageHistory(timeline: Int64(timeline), start: "")
      seen.positions = ["d": found]
      _ = machine.handle(.time, at: .seconds(second))
      for output in machine.handle(.announced(.success(seen)), at: .seconds(second)) {
        if case .report(let loss) = output { losses.append(loss) }
      }
    }
    #expect(
      losses == [StorageLoss("d", seen: old, found: new, oldTimeline: 1, newTimeline: 2)]
    )
  }

  @Test("Requests for a database that was removed meanwhile are answered at once")
  func removed() {
    var machine = Leadership(me)
    _ = machine.handle(.time, at: .zero)
    _ = machine.handle(.announced(.success(view(nil, servers: [me]))), at: .milliseconds(1))
    let asked = machine.handle(.asked("d", request: 1), at: .milliseconds(2))
    #expect(asked.contains { if case .acquire("d", _, _) = $0 { true } else { false } }, "\(asked)")
    let missing = StoreError(.missing, description: "there is no such database")
    let outputs = machine.handle(.acquired("d", .failure(missing)), at: .milliseconds(3))
    #expect(outputs.contains(.answer(request: 1, .absent)), "\(outputs)")
    #expect(!machine.isCutOff)
  }

  @Test("A server that is alone keeps its lease and tries again")
  func alone() throws {
    var machine = try leader(beside: [])
    var outputs = machine.handle(.lost("d", lease(), .stuck), at: .seconds(2))
    outputs += machine.handle(.closed("d"), at: .milliseconds(2_010))
    #expect(!outputs.contains { if case .release = $0 { true } else { false } })
    let later = renew(&machine, lease(), servers: [me], from: 3, seconds: 2)
    #expect(later.contains { if case .acquire = $0 { true } else { false } }, "\(later)")
  }

  @Test("Damaged data is read again only on request, and only after a pause")
  func rests() throws {
    var machine = try leader(beside: others)
    var outputs = machine.handle(.lost("d", lease(), .damaged), at: .seconds(2))
    outputs += machine.handle(.closed("d"), at: .milliseconds(2_010))
    #expect(outputs.filter { $0 != .announce }.isEmpty, "\(outputs)")
    let reason = DatabaseLeader.nowhere("the stored data is damaged")
    for request in 1...50 {
      outputs = machine.handle(.asked("d", request: request), at: .milliseconds(2_020 + request))
      #expect(outputs.filter { $0 != .announce } == [.answer(request: request, reason)])
    }
    let servers = others + [me]
    outputs = renew(&machine, lease(), servers: servers, from: 3, seconds: 60)
    #expect(outputs.isEmpty, "nobody asks for it: \(outputs)")
    outputs = machine.handle(.asked("d", request: 51), at: .seconds(64))
    #expect(outputs.contains { if case .acquire = $0 { true } else { false } }, "\(outputs)")
  }

  @Test("A damaged database can be moved, and a stopping server hands it over")
  func restsElsewhere() throws {
    var machine = try leader(beside: others)
    _ = machine.handle(.lost("d", lease(), .damaged), at: .seconds(2))
    _ = machine.handle(.closed("d"), at: .seconds(2))
    var wanted = lease()
    wanted.wanted = others[1].id
    var stopping = machine
    let moved = renew(&machine, wanted, servers: others + [me], from: 3, seconds: 2)
    #expect(moved.contains(.release(lease(), to: others[1].id)), "\(moved)")
    let stopped = stopping.handle(.stop, at: .seconds(3))
    #expect(stopped.contains { if case .release(lease(), _) = $0 { true } else { false } })
  }
}
