/// A screen that is a list of rows, each two lines high if there is room and the screen does not
/// say otherwise.
protocol RowScreen: AppScreen {
  associatedtype RowID: Hashable & Sendable

  var list: ListView<RowID> { get set }
}

extension RowScreen {
  mutating func scroll(by direction: Int, session: inout Session) -> [Effect] {
    list.move(by: direction)
    return []
  }

  mutating func resize(in session: Session) {
    let room = Frame(session.size).page.size
    list.setRowHeight(room.height >= 8 ? 2 : 1)
    list.resize(to: room)
  }
}

extension Painter {
  /// Makes a row of a screen one that can be clicked, and a selected one stand out.
  ///
  /// The cursor goes to the selected row, so that screen readers follow it.
  mutating func beginRow<ID>(
    _ row: ListView<ID>.Row,
    of screen: any AppScreen.Type,
    number: Int
  ) {
    hits.add(.row(number, of: screen), at: row.rect)
    guard row.isSelected else { return }
    self.screen.fill(row.rect, style: theme.selected)
    self.screen.cursor = row.rect.origin
  }
}
