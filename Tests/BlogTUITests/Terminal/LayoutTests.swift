import TestSupport
import Testing

@testable import BlogTUI

@Suite("Layout and Rect")
struct LayoutTests {
  @Test("Flexible parts share the space that fixed parts leave")
  func lengths() {
    #expect(Layout.lengths([.fixed(2), .flexible, .fixed(1)], total: 10) == [2, 7, 1])
    #expect(Layout.lengths([.flexible, .flexible], total: 5) == [2, 3])
  }

  @Test("Fixed parts shrink from the last one when space runs out")
  func noRoom() {
    #expect(Layout.lengths([.fixed(2), .fixed(3), .flexible], total: 4) == [2, 2, 0])
    #expect(Layout.lengths([.fixed(-2), .flexible], total: -4) == [0, 0])
  }

  @Test("Rows and columns tile the rectangle")
  func rectangles() {
    let rect = Rect(row: 1, column: 2, width: 10, height: 5)
    let rows = Layout.rows([.fixed(1), .flexible], in: rect)
    #expect(rows[0] == Rect(row: 1, column: 2, width: 10, height: 1))
    #expect(rows[1] == Rect(row: 2, column: 2, width: 10, height: 4))
    let columns = Layout.columns([.flexible, .fixed(3)], in: rect)
    #expect(columns[0] == Rect(row: 1, column: 2, width: 7, height: 5))
    #expect(columns[1] == Rect(row: 1, column: 9, width: 3, height: 5))
  }

  @Test("Parts never exceed the available space", arguments: 0..<20 as Range<UInt64>)
  func neverMore(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let parts = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
      Bool.random(using: &generator)
        ? Length.fixed(Int.random(in: -1...9, using: &generator))
        : .flexible
    }
    for total in -1...30 {
      let lengths = Layout.lengths(parts, total: total)
      #expect(lengths.count == parts.count)
      #expect(lengths.allSatisfy { $0 >= 0 })
      #expect(lengths.reduce(0, +) <= max(0, total))
    }
  }

  @Test("Rectangles never have a negative size")
  func rectangleSizes() {
    let rect = Rect(row: 0, column: 0, width: 3, height: 3)
    #expect(rect.inset(rows: 2, columns: 2).isEmpty)
    #expect(rect.intersection(Rect(row: 5, column: 5, width: 2, height: 2)).isEmpty)
    #expect(rect.line(3).isEmpty && rect.line(-1).isEmpty && !rect.line(2).isEmpty)
    #expect(Rect(row: 0, column: 0, width: -1, height: 2).size == Size(width: 0, height: 2))
    let middle = rect.centered(Size(width: 1, height: 9))
    #expect(middle == Rect(row: 0, column: 1, width: 1, height: 3))
  }
}
