import RealtimeCore
import TestSupport
import Testing

@Suite("Push IDs")
struct PushIDTests {
  @Test(
    "begin with the time",
    arguments: [
      (0, "--------"), (1, "-------0"), (63, "-------z"), (64, "------0-"),
      (1_388_534_400_000, "-JCA5NF-"), (1_700_000_000_000, "-NjEtLV-"),
      (281_474_976_710_655, "zzzzzzzz"),
    ]
  )
  func time(milliseconds: Int64, expected: String) {
    #expect(PushID.timePart(milliseconds) == expected)
    #expect(PushID.time(of: expected + "------------") == milliseconds)
  }

  @Test("count up within a millisecond")
  func counting() {
    var generator = PushIDGenerator()
    let time: Int64 = 1_700_000_000_001
    #expect(generator.next(time: time) { 0 } == "-NjEtLV0------------")
    #expect(generator.next(time: time) { 63 } == "-NjEtLV0-----------0")
    #expect(generator.next(time: time) { 63 } == "-NjEtLV0-----------1")
  }

  @Test("carry when a digit overflows")
  func carry() {
    var generator = PushIDGenerator()
    let time: Int64 = 1_700_000_000_002
    var id = generator.next(time: time) { 32 }
    #expect(id == "-NjEtLV1VVVVVVVVVVVV")
    for _ in 0..<63 { id = generator.next(time: time) { 0 } }
    #expect(id == "-NjEtLV1VVVVVVVVVVWU")
  }

  @Test("move on to the next millisecond when all digits overflow")
  func overflow() {
    var generator = PushIDGenerator()
    let ids = (0..<4).map { _ in generator.next(time: 5) { 63 } }
    #expect(ids == ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(Set(ids).count == ids.count)
  }

  @Test("ascend whatever the clock does within a minute", arguments: 1...20)
  func ascending(seed: Int) throws {
    var generator = PushIDGenerator()
    var random = SplitMix64(seed: UInt64(seed))
    // A steady time, around which the estimate jumps by half the patience.
    var steady: Int64 = 1_700_000_000_000
    var latest: Int64 = 0
    var last = ChildKey("-")
    for _ in 0..<2_000 {
      steady += Int64.random(in: 0...2, using: &random)
      let swings: [Int64] = [0, 3, PushIDGenerator.patience / 2]
      let swing = swings.randomElement(using: &random) ?? 0
      let now = steady + Int64.random(in: -swing...swing, using: &random)
      latest = max(latest, now)
      // Tails that are nearly full overflow often.
      let lowest: UInt8 = Bool.random(using: &random) ? 0 : 62
      let id = generator.next(time: now) { UInt8.random(in: lowest...63, using: &random) }
      #expect(id.utf8.count == 20)
      #expect(last < ChildKey(id), "\(last) \(id)")
      last = ChildKey(id)
      let time = try #require(PushID.time(of: id))
      #expect(time >= now && time <= latest + 1_000)
      latest = max(latest, time)
    }
  }

  @Test("ascend through many in one millisecond, and through the end of its tails")
  func manyAtOnce() {
    for start in [0, 62, 63] as [UInt8] {
      var generator = PushIDGenerator()
      var ids: [String] = []
      for _ in 0..<(1 << 13) { ids.append(generator.next(time: 7) { start }) }
      let sorted = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      #expect(ids == sorted)
      #expect(Set(ids).count == ids.count)
    }
  }

  @Test("stay at their latest time when the clock goes back by a minute, and follow it further")
  func clockBack() {
    let patience = PushIDGenerator.patience
    for (back, isHeld) in [
      (1, true), (1_000, true), (patience - 1, true), (patience, true), (patience + 1, false),
      (86_400_000, false), (1_700_000_000_000, false),
    ] as [(Int64, Bool)] {
      var generator = PushIDGenerator()
      let start: Int64 = 1_700_000_000_000
      let first = generator.next(time: start) { 1 }
      let second = generator.next(time: start - back) { 2 }
      #expect((ChildKey(first) < ChildKey(second)) == isHeld)
      #expect(PushID.time(of: second) == (isHeld ? start : start - back))
      // From there on the order holds again.
      let third = generator.next(time: start - back) { 3 }
      #expect(ChildKey(second) < ChildKey(third))
    }
  }

  @Test("are dated at most a minute ahead while the clock falls back step by step")
  func slowly() throws {
    var generator = PushIDGenerator()
    var now: Int64 = 1_700_000_000_000
    for _ in 0..<1_000 {
      let id = generator.next(time: now) { 5 }
      let time = try #require(PushID.time(of: id))
      #expect(time - now <= PushIDGenerator.patience)
      now -= 1_000
    }
  }

  @Test(
    "have twenty characters even at times that cannot be represented",
    arguments: [-1, .min, .max]
  )
  func farTimes(time: Int64) {
    var generator = PushIDGenerator()
    let ids = (0..<3).map { _ in generator.next(time: time) { 0 } }
    #expect(ids == ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(PushID.time(of: ids[0]) == (time < 0 ? 0 : 281_474_976_710_655))
  }

  @Test("of several generators differ, and sort by their times")
  func several() {
    var random = SplitMix64(seed: 9)
    var generators = [PushIDGenerator](repeating: PushIDGenerator(), count: 4)
    var ids: [(time: Int64, id: String)] = []
    for step in 0..<2_000 {
      let time = Int64(step / 8)
      let id = generators[step % 4].next(time: time) { UInt8.random(in: 0...63, using: &random) }
      ids.append((time, id))
    }
    #expect(Set(ids.map(\.id)).count == ids.count)
    let sorted = ids.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    #expect(sorted.map(\.time) == ids.map(\.time))
  }

  @Test(
    "are distinguished from other keys",
    arguments: ["", "abc", "-NjEtLV-...........-", "-NjEtLV------------"]
  )
  func others(text: String) {
    #expect(PushID.time(of: text) == nil)
  }
}
