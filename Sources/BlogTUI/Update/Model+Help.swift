import TerminalUI

extension Model {
  /// Shows all keys, those of the place where the user is first.
  mutating func openHelp() {
    let room = Frame(size).content.inset(rows: 0, columns: 1).size
    help = HelpPage(keys: keys, context: contextBelowHelp, size: room)
  }

  mutating func performInHelp(_ action: Action) -> [Effect] {
    guard let scroll = help?.scroll else { return [] }
    let top = scroll.top
    let capacity = scroll.capacity
    switch action {
    case .up: help?.scroll.scroll(to: top - 1)
    case .down: help?.scroll.scroll(to: top + 1)
    case .pageUp: help?.scroll.scroll(to: top - capacity)
    case .pageDown: help?.scroll.scroll(to: top + capacity)
    case .halfPageUp: help?.scroll.scroll(to: top - max(1, capacity / 2))
    case .halfPageDown: help?.scroll.scroll(to: top + max(1, capacity / 2))
    case .top: help?.scroll.scroll(to: 0)
    case .bottom: help?.scroll.scroll(to: scroll.lines.count)
    case .back, .quit: help = nil
    case .open, .tab, .nextTab, .previousTab, .compose, .star, .delete, .search, .nextMatch,
      .previousMatch, .writeComment, .send, .switchField, .confirm, .decline, .reload, .help,
      .redraw, .suspend:
      break
    }
    return []
  }
}
