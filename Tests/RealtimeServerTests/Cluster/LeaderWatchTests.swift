import RealtimeServer
import Testing

@Suite("A leader that clients cannot reach")
struct LeaderWatchTests {
  private let leader = ClusterServer(id: ServerID("l"), host: "s-1")

  /// Runs a watch of a leader, with clients arriving every second while `isBusy`.
  private func run(
    _ seconds: Int,
    from start: Int = 0,
    watch: inout LeaderWatch,
    isBusy: Bool = true,
    isReached: Bool,
    leads: Bool = true
  ) -> (looks: Int, asked: [Int], reachedAgain: [Int]) {
    var looks = 0
    var asked: [Int] = []
    var reachedAgain: [Int] = []
    for second in start..<(start + seconds) {
      let now = Duration.seconds(1_000 + second)
      var outputs =
        isBusy ? watch.handle(.sent("d", to: leader), at: now) : watch.handle(.time, at: now)
      while !outputs.isEmpty {
        switch outputs.removeFirst() {
        case .look(leader):
          looks += 1
          outputs += watch.handle(
            .looked(leader.id, isReached: isReached, leads: leads ? ["d", "e"] : []),
            at: now + .milliseconds(200)
          )
        case .look: Issue.record("a look at somebody else")
        case .ask(let name):
          #expect(name == "d")
          asked.append(second)
        case .reachedAgain(let server):
          #expect(server == leader)
          reachedAgain.append(second)
        }
      }
    }
    return (looks, asked, reachedAgain)
  }

  @Test("is asked to hand over after five seconds out of reach, and again a minute later")
  func asks() {
    var watch = LeaderWatch()
    #expect(run(3, watch: &watch, isReached: true) == (3, [], []))
    let lost = run(100, from: 3, watch: &watch, isReached: false)
    #expect(lost.looks == 100)
    #expect(lost.asked == [8, 68])
  }

  @Test("is reported once when it is reached again after it was asked")
  func returns() {
    var watch = LeaderWatch()
    _ = run(3, watch: &watch, isReached: true)
    #expect(run(3, from: 3, watch: &watch, isReached: false).asked == [])
    #expect(run(3, from: 6, watch: &watch, isReached: true).reachedAgain == [], "was not asked")
    #expect(run(10, from: 9, watch: &watch, isReached: false).asked == [14])
    #expect(run(5, from: 19, watch: &watch, isReached: true).reachedAgain == [19])
  }

  @Test("is left alone if it is reached now and then or was never reached")
  func leaves() {
    var never = LeaderWatch()
    #expect(run(100, watch: &never, isReached: false).asked == [])
    var watch = LeaderWatch()
    for round in 0..<10 {
      let start = round * 6
      #expect(run(1, from: start, watch: &watch, isReached: true).asked == [])
      #expect(run(5, from: start + 1, watch: &watch, isReached: false).asked == [])
    }
  }

  @Test("is not asked once it no longer leads")
  func dead() {
    var watch = LeaderWatch()
    _ = run(3, watch: &watch, isReached: true)
    #expect(run(20, from: 3, watch: &watch, isReached: false, leads: false).asked == [])
    #expect(run(1, from: 23, watch: &watch, isReached: false).asked == [23])
  }

  @Test("is not watched while no clients are redirected to it")
  func rests() {
    var watch = LeaderWatch()
    #expect(watch.handle(.time, at: .seconds(1)) == [])
    #expect(watch.deadline == nil)
    _ = run(1, watch: &watch, isReached: true)
    let quiet = run(100, from: 1, watch: &watch, isBusy: false, isReached: false)
    #expect(quiet.looks == 10)
    #expect(quiet.asked == [], "nobody is there who would have it")
    #expect(watch.deadline == nil)
    // Old observations do not count.
    let late = run(4, from: 200, watch: &watch, isReached: false)
    #expect(late.asked == [])
  }
}
