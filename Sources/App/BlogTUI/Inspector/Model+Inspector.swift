extension Model {
  /// Shows the inspector, or leaves it.
  mutating func toggleInspector() -> [Effect] {
    guard !inspector.isOpen else { return closeInspector() }
    inspector.isOpen = true
    relayout()
    return [.watchWire(true)]
  }

  /// Leaves the inspector, if it is open.
  ///
  /// Nothing is told to it any more; what it has been told stays.
  mutating func closeInspector() -> [Effect] {
    guard inspector.isOpen else { return [] }
    inspector.isOpen = false
    relayout()
    return [.watchWire(false)]
  }

  mutating func performInInspector(_ action: Action) -> [Effect] {
    let capacity = inspector.list.capacity
    switch action {
    case .up: inspector.list.move(by: -1)
    case .down: inspector.list.move(by: 1)
    case .pageUp: inspector.list.move(by: -capacity)
    case .pageDown: inspector.list.move(by: capacity)
    case .halfPageUp: inspector.list.move(by: -max(1, capacity / 2))
    case .halfPageDown: inspector.list.move(by: max(1, capacity / 2))
    case .top: inspector.list.move(to: 0)
    case .bottom: inspector.list.move(to: inspector.list.ids.count - 1)
    case .open: showSelectedWireEvent()
    case .back, .quit: return closeInspector()
    case .tab, .nextTab, .previousTab, .compose, .star, .delete, .search, .nextMatch,
      .previousMatch, .writeComment, .send, .switchField, .confirm, .decline, .reload, .help,
      .redraw, .suspend, .reading, .program:
      break
    }
    return []
  }

  /// All that is known of the selected event, on a page of its own.
  private mutating func showSelectedWireEvent() {
    guard let event = inspector.list.selection.flatMap(inspector.event) else { return }
    let lines = event.detail.split(separator: "\n", omittingEmptySubsequences: false)
    let paragraphs =
      [Page.Paragraph(text: SafeText(untrusted: event.title), isHeading: true)]
      + lines.map { Page.Paragraph(text: SafeText(untrusted: String($0)), isHeading: false) }
    let title = SafeText(untrusted: "\(Clock.text(event.time)) \(event.kind.rawValue)")
    show(Page(title: title, content: .text(paragraphs)))
  }

  /// Writes what is shown to a file.
  func saveInspector() -> [Effect] {
    [.write(inspector.text, file: "hearth-wire.txt")]
  }
}
