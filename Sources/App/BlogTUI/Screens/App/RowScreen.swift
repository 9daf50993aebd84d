/// A screen that is a list of rows, each two lines high if there is room and the screen does not
/// say otherwise.
protocol RowScreen: AppScreen {
  associatedtype RowID: Hashable & Sendable

  /// The rows, and the selected one.
  var list: ListView<RowID> { get set }
}

extension RowScreen {
  mutating func scroll(
    by direction: Int,
    over target: ClickTarget?,
    session: inout Session
  )
    -> [Effect]?
  {
    list.move(by: direction)
    return []
  }

  mutating func resize(in session: Session) {
    let room = Frame(session.size).page.size
    list.setRowHeight(room.height >= 8 ? 2 : 1)
    list.resize(to: room)
  }
}
