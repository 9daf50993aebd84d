import TestSupport
import Testing

@testable import BlogTUI

@Suite("ListView")
struct ListViewTests {
  private func makeList(_ count: Int, height: Int) -> ListView<Int> {
    var list = ListView(ids: Array(0..<count))
    list.resize(to: Size(width: 10, height: height))
    return list
  }

  @Test("Keys move the selection, and the view follows")
  func keys() {
    var list = makeList(20, height: 5)
    func press(_ key: KeyEvent) {
      if let motion = Motion(key) { list.move(motion) }
    }
    press(.character("j"))
    #expect(list.selection == 1)
    press(.pageDown)
    #expect(list.selection == 6)
    #expect(list.visibleRange == 2..<7)
    press(.control("d"))
    #expect(list.selection == 8)
    press(.character("G"))
    #expect(list.selection == 19)
    #expect(list.visibleRange == 15..<20)
    press(.home)
    #expect(list.visibleRange == 0..<5)
    #expect(Motion(.enter) == nil && Motion(.character("x")) == nil)
  }

  @Test("Rows inserted above do not move the view")
  func insertionsAbove() {
    var list = makeList(20, height: 5)
    list.select(7)
    let before = Array(list.visibleIDs)
    list.update(ids: [100, 101, 102] + Array(0..<20))
    #expect(list.selection == 7)
    #expect(Array(list.visibleIDs) == before)
    #expect(list.top == 6)
  }

  @Test("When the selected row is removed, the next or else the previous one is selected")
  func removals() {
    var list = makeList(5, height: 5)
    list.select(2)
    list.update(ids: [0, 1, 3, 4])
    #expect(list.selection == 3)
    list.update(ids: [0, 1])
    #expect(list.selection == 1)
    list.update(ids: [])
    #expect(list.selection == nil && list.selectedIndex == nil)
    list.update(ids: [9])
    #expect(list.selection == 9)
  }

  @Test("Multi-line rows are drawn or clipped at the edge")
  func drawing() {
    var list = ListView(ids: ["a", "b", "c"], rowHeight: 2)
    var screen = Screen(size: Size(width: 6, height: 5))
    list.resize(to: screen.size)
    list.select("b")
    for row in list.rows(in: screen.bounds) {
      screen.put((row.isSelected ? ">" : " ") + SafeText(untrusted: row.id), in: row.rect)
    }
    #expect(screen.text() == " a\n\n>b\n\n")
  }

  @Test("A row that starts a section has a line above it unless it is the first in view")
  func sections() {
    var list = ListView<String>()
    var screen = Screen(size: Size(width: 6, height: 5))
    list.resize(to: screen.size)
    list.update(ids: ["a", "b", "c", "d", "e"], sectionStarts: ["a", "b", "d"])
    func draw() -> String {
      screen = Screen(size: screen.size)
      for row in list.rows(in: screen.bounds) {
        let name = SafeText(untrusted: row.id)
        if let line = row.section { screen.put("-" + name, in: line) }
        screen.put((row.isSelected ? ">" : " ") + name, in: row.rect)
      }
      return screen.text()
    }
    #expect(draw() == ">a\n-b\n b\n c\n")
    #expect(list.pageLength == 3)
    list.move(by: 3)
    #expect(draw() == " b\n c\n-d\n>d\n e")
    // A new row above, or one that begins another section, moves nothing.
    list.update(ids: ["x", "a", "b", "c", "d", "e"], sectionStarts: ["a", "b", "d"])
    #expect(draw() == " b\n c\n-d\n>d\n e")
  }

  @Test(
    "With sections, the visible rows fit, fill the view and include the selection",
    arguments: 0..<12 as Range<UInt64>
  )
  func randomSections(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let rowHeight = Int.random(in: 1...3, using: &generator)
    var list = ListView<Int>(rowHeight: rowHeight)
    var height = 10
    var starts: Set<Int> = []
    list.resize(to: Size(width: 1, height: height))
    func lines(_ range: Range<Int>) -> Int {
      range.reduce(0) { lines, index in
        lines + rowHeight + (index > range.lowerBound && starts.contains(list.ids[index]) ? 1 : 0)
      }
    }
    for _ in 0..<300 {
      switch Int.random(in: 0...3, using: &generator) {
      case 0:
        let ids = (0..<Int.random(in: 0...30, using: &generator)).shuffled(using: &generator)
        starts = Set(ids.filter { _ in Bool.random(using: &generator) })
        list.update(ids: ids, sectionStarts: starts)
      case 1:
        height = Int.random(in: 1...12, using: &generator)
        list.resize(to: Size(width: 1, height: height))
      default:
        if let motion = Motion(RandomKeys.next(using: &generator)) { list.move(motion) }
      }
      guard let selected = list.selectedIndex else {
        #expect(list.visibleRange.isEmpty)
        continue
      }
      let visible = list.visibleRange
      #expect(visible.contains(selected))
      #expect(lines(visible) <= height || visible.count == 1)
      let isFull =
        visible.upperBound < list.ids.count
        ? lines(visible.lowerBound..<visible.upperBound + 1) > height
        : visible.lowerBound == 0
          || lines(visible.lowerBound - 1..<visible.upperBound) > height
      #expect(isFull || visible.count == 1)
    }
  }

  @Test("The selection survives any change that keeps its row", arguments: 0..<12 as Range<UInt64>)
  func random(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var list = ListView<Int>(rowHeight: Int.random(in: -1...3, using: &generator))
    for _ in 0..<200 {
      let line = list.selectedIndex.map { $0 - list.top }
      let before = list.selection
      switch Int.random(in: 0...3, using: &generator) {
      case 0:
        let ids = (0..<Int.random(in: 0...30, using: &generator)).shuffled(using: &generator)
        list.update(ids: ids)
        if let before, ids.contains(before) { #expect(list.selection == before) }
        if let line, let index = list.selectedIndex, index >= line,
          list.ids.count >= index - line + list.capacity
        {
          #expect(index - list.top == line)
        }
      case 1:
        let height = Int.random(in: 0...9, using: &generator)
        list.resize(to: Size(width: 1, height: height))
      default:
        if let motion = Motion(RandomKeys.next(using: &generator)) { list.move(motion) }
      }
      let index = list.selectedIndex
      #expect(list.selection == index.map { list.ids[$0] })
      if let index { #expect(list.visibleRange.contains(index)) }
      #expect(list.top >= 0)
    }
  }
}
