import Testing

@testable import HearthLab

@Suite("SwarmPlan")
struct SwarmPlanTests {
  private func settings(seed: UInt64 = 7) -> SwarmSettings {
    var settings = SwarmSettings()
    settings.users = 50
    settings.seconds = 60
    settings.seed = seed
    settings.rate = 100
    settings.faults = FaultKind.allCases
    return settings
  }

  @Test("The same seed gives the same plan, and another seed a different one")
  func seeded() {
    let plan = SwarmPlan(settings())
    #expect(plan == SwarmPlan(settings()))
    let other = SwarmPlan(settings(seed: 8))
    #expect(plan.operations != other.operations)
    #expect(plan.faults != other.faults)
  }

  @Test("Faults do not change what the users do")
  func independentStreams() {
    var calm = settings()
    calm.faults = []
    #expect(SwarmPlan(calm).operations == SwarmPlan(settings()).operations)
    #expect(SwarmPlan(calm).faults.isEmpty)
  }

  @Test("Operations come at the requested rate, ordered by time, before the end")
  func rate() {
    let plan = SwarmPlan(settings())
    #expect((5_500...6_500).contains(plan.operations.count))
    #expect(plan.operations.map(\.at) == plan.operations.map(\.at).sorted())
    #expect(plan.operations.allSatisfy { $0.at < plan.end })
    #expect(plan.operations.map(\.number) == Array(plan.operations.indices))
  }

  @Test("Actions follow the shares of the mix, and others never occur")
  func shares() throws {
    var settings = settings()
    settings.mix = try SwarmMix("comment=1,star=3")
    settings.hotPosts = 2
    let storm = SwarmPlan(settings).operations.dropFirst(2)
    let comments = storm.count { $0.action == .comment }
    let stars = storm.count { $0.action == .star }
    #expect(comments + stars == storm.count)
    #expect((0.22...0.28).contains(Double(comments) / Double(storm.count)))
  }

  @Test("Hot posts are written before the load begins")
  func opening() {
    let opening = SwarmPlan(settings()).operations.prefix(5)
    #expect(opening.map(\.target) == (0..<5).map { .hot($0) })
    #expect(opening.allSatisfy { $0.action == .post && $0.at < SwarmPlan.opening })
  }

  @Test("Every fault occurs before any repeats, even in a short run")
  func allFaults() {
    var settings = settings()
    for seconds in [10.0, 60] {
      settings.seconds = seconds
      let faults = SwarmPlan(settings).faults
      #expect(Set(faults.prefix(12).map(\.kind)).count == min(12, faults.count))
      #expect(faults.count >= 10)
      let end = Int64(seconds * 1_000_000) + SwarmPlan.opening
      #expect(faults.allSatisfy { $0.at + $0.lasting <= end })
    }
  }

  @Test("Clock faults jump forwards or backwards by up to two hours")
  func clockSteps() {
    let steps = SwarmPlan(settings()).faults.map(\.clockStep)
    #expect(steps.contains { $0 > 0 } && steps.contains { $0 < 0 })
    #expect(steps.allSatisfy { abs($0) <= 7_200_000 })
  }

  @Test("Every user is assigned to a process")
  func processes() {
    var settings = settings()
    settings.usersPerProcess = 7
    #expect(settings.processes == 8)
    #expect((0..<8).flatMap { Array(settings.users(ofProcess: $0)) } == Array(0..<50))
  }
}
