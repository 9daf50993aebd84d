import BlogModel

extension OpenPost {
  /// Moves through the lines and comments.
  mutating func move(_ motion: Motion) {
    switch motion {
    case .down: moveDown()
    case .up: moveUp()
    case .top: moveToTop()
    case .bottom: moveToBottom()
    case .halfPageDown, .halfPageUp, .pageDown, .pageUp:
      page(by: motion.target(from: 0, page: capacity, count: 0))
    }
  }

  /// To the next comment, or a line further where there is none in view.
  private mutating func moveDown() {
    guard let index = selectedIndex else {
      let first = layout.ranges.firstIndex { $0.lowerBound >= top }
      if let first, layout.ranges[first].lowerBound < top + capacity {
        select(first)
      } else {
        scroll(by: 1)
      }
      return
    }
    let range = layout.ranges[index]
    if range.upperBound > top + capacity {
      scroll(by: 1)
    } else if index + 1 < layout.ranges.count {
      select(index + 1)
    } else {
      scroll(by: 1)
    }
  }

  /// To the comment before, or a line back where there is none.
  private mutating func moveUp() {
    guard let index = selectedIndex else { return scroll(by: -1) }
    if layout.ranges[index].lowerBound < top {
      scroll(by: -1)
    } else if index > 0 {
      select(index - 1)
    } else {
      selection = nil
      if top > 0 { scroll(by: -1) }
    }
  }

  /// Scrolls by that many lines; the selection follows into view.
  mutating func page(by count: Int) {
    scroll(by: count)
    keepSelectionInView(goingDown: count > 0)
  }

  /// To the first line.
  private mutating func moveToTop() {
    selection = nil
    top = 0
  }

  /// To the last line, and to the last comment.
  private mutating func moveToBottom() {
    selection = comments?.last?.id
    top = lastTop
  }

  /// Selects the comment under a line of the view, or the post itself.
  mutating func select(lineInView line: Int) {
    let number = top + line
    guard let index = layout.ranges.firstIndex(where: { $0.contains(number) }) else {
      selection = nil
      return
    }
    select(index)
  }

  private mutating func select(_ index: Int) {
    selection = comments?[index].id
    reveal(layout.ranges[index])
  }

  private mutating func scroll(by count: Int) {
    top = max(0, min(top + count, lastTop))
  }

  mutating func reveal(_ range: Range<Int>) {
    if range.upperBound > top + capacity { top = range.upperBound - capacity }
    if range.lowerBound < top { top = range.lowerBound }
    top = max(0, min(top, lastTop))
  }

  private mutating func keepSelectionInView(goingDown: Bool) {
    let visible = top..<(top + capacity)
    if let index = selectedIndex, layout.ranges[index].overlaps(visible) { return }
    let inView = layout.ranges.indices.filter { visible.contains(layout.ranges[$0].lowerBound) }
    let index = goingDown || selection != nil ? (goingDown ? inView.first : inView.last) : nil
    selection = index.flatMap { comments?[$0].id }
  }
}
