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

  /// All that is known of the selected event, on a page of its own.
  mutating func showSelectedWireEvent() {
    guard let event = inspector.list.selection.flatMap(inspector.event) else { return }
    let lines = event.detail.split(separator: "\n", omittingEmptySubsequences: false)
    let paragraphs =
      [Page.Paragraph(text: SafeText(untrusted: event.title), isHeading: true)]
      + lines.map { Page.Paragraph(text: SafeText(untrusted: String($0)), isHeading: false) }
    let title = SafeText(untrusted: "\(Clock.text(event.time)) \(event.kind.rawValue)")
    show(Page(title: title, content: .text(paragraphs)))
  }
}
