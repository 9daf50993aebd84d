import RealtimeCore
import TestSupport
import Testing

@Suite("Push ids")
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

  @Test("count up within one millisecond")
  func counting() {
    var generator = PushIDGenerator()
    let time: Int64 = 1_700_000_000_001
    #expect(generator.next(time: time) { 0 } == "-NjEtLV0------------")
    #expect(generator.next(time: time) { 63 } == "-NjEtLV0-----------0")
    #expect(generator.next(time: time) { 63 } == "-NjEtLV0-----------1")
  }

  @Test("carry when a digit is full")
  func carry() {
    var generator = PushIDGenerator()
    let time: Int64 = 1_700_000_000_002
    var id = generator.next(time: time) { 32 }
    #expect(id == "-NjEtLV1VVVVVVVVVVVV")
    for _ in 0..<63 { id = generator.next(time: time) { 0 } }
    #expect(id == "-NjEtLV1VVVVVVVVVVWU")
  }

  @Test("pass to the next millisecond when all digits are full, and stay there")
  func overflow() {
    var generator = PushIDGenerator()
    let ids = (0..<4).map { _ in generator.next(time: 5) { 63 } }
    #expect(ids == ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(Set(ids).count == ids.count)
  }

  @Test("ascend while the clock does not go back")
  func ascending() {
    var generator = PushIDGenerator()
    var random = SplitMix64(seed: 5)
    var time: Int64 = 1_700_000_000_000
    var last = ChildKey("-")
    for _ in 0..<5_000 {
      time += Int64.random(in: 0...1, using: &random)
      let draws = (0..<12).map { _ in UInt8.random(in: 0...63, using: &random) }
      var position = 0
      let id = generator.next(time: time) {
        position += 1
        return draws[position - 1]
      }
      #expect(id.utf8.count == 20)
      #expect(last < ChildKey(id))
      #expect(PushID.time(of: id) == time)
      last = ChildKey(id)
    }
  }

  @Test("draw again when the clock has gone back")
  func clockBack() {
    var generator = PushIDGenerator()
    _ = generator.next(time: 100) { 1 }
    #expect(generator.next(time: 99) { 2 } == "------0Y111111111111")
  }

  @Test(
    "are told from other keys",
    arguments: ["", "abc", "-NjEtLV-...........-", "-NjEtLV------------"]
  )
  func others(text: String) {
    #expect(PushID.time(of: text) == nil)
  }
}
