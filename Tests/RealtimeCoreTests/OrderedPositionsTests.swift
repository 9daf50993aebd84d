import TestSupport
import Testing

@testable import RealtimeCore

@Suite("OrderedPositions")
struct OrderedPositionsTests {
  private static func position(_ number: Int) -> IndexEntry {
    IndexEntry(value: .leaf(.integer(Int64(number / 7))), key: ChildKey("k\(100_000 + number)"))
  }

  private static func all(_ positions: OrderedPositions) -> [IndexEntry] {
    Array(IteratorSequence(positions.ascending { _ in false }))
  }

  /// Compares the results of all queries with those of a plain array.
  private static func check(_ positions: OrderedPositions, _ model: [Int], near number: Int) {
    let sorted = model.map(position)
    let place = position(number)
    #expect(positions.count == model.count)
    #expect(positions.first == sorted.first && positions.last == sorted.last)
    #expect(positions.contains(place) == model.contains(number))
    #expect(positions.before(place) == model.last { $0 < number }.map(position))
    let above = Array(IteratorSequence(positions.ascending { $0 < place }).prefix(200))
    #expect(above == Array(sorted.filter { !($0 < place) }.prefix(200)))
    let below = Array(IteratorSequence(positions.descending { !(place < $0) }).prefix(200))
    #expect(below == Array(sorted.filter { !(place < $0) }.reversed().prefix(200)))
  }

  @Test("matches a sorted array while growing and shrinking", arguments: 0..<6 as Range<UInt64>)
  func model(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let start = random.once(in: 2) ? [] : Array(0..<random.below(500)).map { $0 * 3 }
    var positions = OrderedPositions(sorted: start.map(Self.position))
    var model = start
    var kept = (positions, model)
    for round in 0..<4_000 {
      let number = random.below(2_000)
      // The positions grow to many chunks, then shrink to none, in long runs of neighbours.
      let grows = round / 1_000 % 2 == 0
      for number in grows ? number..<(number + 1) : number..<(number + 5) {
        let slot = model.firstIndex { $0 >= number } ?? model.count
        let isThere = slot < model.count && model[slot] == number
        if random.below(10) < (grows ? 8 : 1) {
          if isThere {
            positions.insert(Self.position(number))
          } else {
            positions.insert(absent: Self.position(number))
            model.insert(number, at: slot)
          }
        } else {
          #expect(positions.remove(Self.position(number)) == isThere)
          if isThere { model.remove(at: slot) }
        }
      }
      if round % 50 == 0 { Self.check(positions, model, near: random.below(2_000)) }
      if round % 500 == 0 {
        // A copy is unaffected by later changes.
        #expect(Self.all(kept.0) == kept.1.map(Self.position))
        kept = (positions, model)
      }
    }
    #expect(Self.all(positions) == model.map(Self.position))
  }

  @Test("grows at one end, as posts do, and shrinks one by one to empty")
  func ends() {
    var positions = OrderedPositions()
    for number in 0..<1_000 { positions.insert(absent: Self.position(number)) }
    #expect(Self.all(positions) == (0..<1_000).map(Self.position))
    for number in 0..<1_000 {
      #expect(positions.first == Self.position(number))
      positions.remove(present: Self.position(number))
    }
    #expect(positions.count == 0 && positions.first == nil && positions.last == nil)
    #expect(positions.before(Self.position(1)) == nil && Self.all(positions).isEmpty)
    positions.insert(Self.position(5))
    #expect(Self.all(positions) == [Self.position(5)])
  }
}
