import Testing

@testable import BlogTUI

@Suite("HitMap")
struct HitMapTests {
  @Test("A click hits the topmost target and reports the offset inside it")
  func last() {
    var map = HitMap<String>()
    map.add("list", at: Rect(row: 0, column: 0, width: 10, height: 10))
    map.add("row", at: Rect(row: 2, column: 1, width: 5, height: 1))
    let hit = map.hit(at: Position(row: 2, column: 3))
    #expect(hit?.target == "row")
    #expect(hit?.offset == Position(row: 0, column: 2))
    #expect(map.hit(at: Position(row: 3, column: 3))?.target == "list")
    #expect(map.hit(at: Position(row: 10, column: 3)) == nil)
  }

  @Test("A covered target is not hit")
  func covered() {
    var map = HitMap<String>()
    map.add("list", at: Rect(row: 0, column: 0, width: 10, height: 10))
    map.cover(Rect(row: 4, column: 0, width: 10, height: 1))
    #expect(map.hit(at: Position(row: 4, column: 3)) == nil)
    #expect(map.hit(at: Position(row: 5, column: 3))?.target == "list")
  }
}
