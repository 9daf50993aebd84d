package import TerminalUI

/// The table of all keys, generated from the key table.
package struct HelpPage: Equatable, Sendable {
  /// How far it is scrolled; headings and rows are its lines.
  package internal(set) var scroll: ScrollView
  /// The numbers of the lines that are headings.
  package let headings: Set<Int>

  /// Makes the page: where the user is comes first, then everywhere else.
  init(keys: KeyTable, context: Context, size: Size) {
    let contexts = [context] + Context.allCases.filter { $0 != context }
    let names = Context.allCases.flatMap { keys.bindings(in: $0) }.map(\.keysText.width)
    let column = min(names.max() ?? 0, max(8, size.width / 3))
    var lines: [SafeText] = []
    var headings: Set<Int> = []
    for context in contexts {
      if !lines.isEmpty { lines.append(.empty) }
      headings.insert(lines.count)
      lines.append(context.title)
      for binding in keys.bindings(in: context) {
        lines += Self.rows(of: binding, column: column, width: size.width)
      }
    }
    scroll = ScrollView(lines: lines)
    scroll.resize(to: size)
    self.headings = headings
  }

  /// Keys at the left and their meaning at the right, both wrapped into their columns.
  private static func rows(
    of binding: KeyBinding<Action, Context>,
    column: Int,
    width: Int
  ) -> [SafeText] {
    let names = binding.keysText.wrapped(width: column)
    let texts = binding.help.wrapped(width: max(4, width - column - 2))
    return (0..<max(names.count, texts.count)).map { row in
      let name = row < names.count ? names[row] : .empty
      return name.padded(to: column) + "  " + (row < texts.count ? texts[row] : .empty)
    }
  }
}
