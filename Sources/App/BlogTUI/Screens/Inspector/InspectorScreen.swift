/// The screen that shows the ``Inspector`` of the session, which outlives the screen.
struct InspectorScreen: AppScreen {
  static let layer = ScreenLayer.inspector

  /// Whether keys are typed into the filter by path.
  var isFiltering = false

  /// A click on an event selects it; a click on the selected event shows its details.
  static func pick(_ row: Int, in model: inout Model) -> [Effect] {
    if model.session.inspector.list.selection == row {
      model.showSelectedWireEvent()
    } else {
      model.session.inspector.list.select(row)
    }
    return []
  }

  func context(in session: Session) -> Context { isFiltering ? .filter : .inspector }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    guard isFiltering else { return .ignored }
    let before = session.inspector.field.count
    session.inspector.type(key)
    let field = session.inspector.field
    session.noteCut(key, from: before, to: field.count, limit: field.limit)
    return .taken([])
  }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {
    session.inspector.moveCursor(toColumn: offset.column)
  }

  mutating func scroll(by direction: Int, session: inout Session) -> [Effect] {
    session.inspector.list.move(by: wheelStep * direction)
    return []
  }

  func draw(on painter: inout Painter) { painter.paintInspector() }

  func drawFooter(on painter: inout Painter) {
    if isFiltering { painter.paintInspectorFilter() } else { painter.paintHints() }
  }
}

extension Model {
  package var isInspecting: Bool { stack.contains(InspectorScreen.self) }

  mutating func toggleInspector() -> [Effect] {
    guard !isInspecting else { return closeInspector() }
    stack[InspectorScreen.self] = InspectorScreen()
    relayout()
    return [.environment(.watchWire(true))]
  }

  /// Closes the inspector if it is open; its events are kept.
  mutating func closeInspector() -> [Effect] {
    guard isInspecting else { return [] }
    stack[InspectorScreen.self] = nil
    return [.environment(.watchWire(false))]
  }

  /// Shows more again, the last restriction first; closes the inspector if it shows everything.
  fileprivate mutating func leaveInspector() -> [Effect] {
    if session.inspector.followed != nil {
      session.inspector.stopFollowing()
    } else if !session.inspector.field.isEmpty {
      session.inspector.clearFilter()
    } else {
      return closeInspector()
    }
    return []
  }

  fileprivate mutating func followSelectedWrite() {
    if !session.inspector.followSelected() {
      session.message = .notDone("The event belongs to no write that is listed.")
    }
  }

  /// Shows all details of the selected event on a page.
  mutating func showSelectedWireEvent() {
    guard let entry = session.inspector.list.selection.flatMap(session.inspector.entry) else {
      return
    }
    let event = entry.event
    let title = SafeText(untrusted: "\(Clock.preciseText(event.time)) \(event.kind.rawValue)")
    if let group = event.group, let tries = TransactionTries(session.inspector.events(in: group)) {
      return show(Page(title: title, content: .tries(tries)))
    }
    var paragraphs = [Page.Paragraph(text: SafeText(untrusted: event.title), isHeading: true)]
    if let size = event.size {
      let text = Painter.count(size, one: "byte on the wire", many: "bytes on the wire")
      paragraphs.append(Page.Paragraph(text: text))
    }
    if let cause = event.cause {
      paragraphs.append(Page.Paragraph(text: "caused by " + SafeText(untrusted: cause)))
    }
    paragraphs += event.detailLines.map { Page.Paragraph(text: SafeText(untrusted: $0)) }
    show(Page(title: title, content: .text(paragraphs)))
  }

  /// The file for what the inspector shows now.
  fileprivate var wireFile: String {
    let day = CalendarDay(session.now)
    let date = [day.month, day.day].reduce("\(day.year)") { $0 + ($1 < 10 ? "-0" : "-") + "\($1)" }
    return "hearth-wire-\(date)-\(Clock.text(session.now).filter { $0 != ":" }).jsonl"
  }
}

enum InspectorActions {
  static let motions = BoundAction.motions(in: .inspector) { model, motion in
    model.session.inspector.list.move(motion)
    return []
  }

  static let all: [BoundAction] = [
    BoundAction(.open, keys: ["Enter"], in: [.inspector], help: "details of the event") {
      $0.showSelectedWireEvent()
    }
    .hint("details", rank: 3),
    BoundAction("pause", keys: ["p"], in: [.inspector], help: "pause or resume") {
      $0.session.inspector.togglePause()
    }
    .hint("pause", rank: 4),
    BoundAction("next-kind", keys: ["f", "Tab"], in: [.inspector], help: "only one kind of event") {
      $0.session.inspector.showNextKind()
    }
    .hint("kind", rank: 5),
    BoundAction(.search, keys: ["/"], in: [.inspector], help: "only some paths") {
      $0.stack[InspectorScreen.self]?.isFiltering = true
    }
    .hint("path", rank: 6),
    BoundAction(
      "follow-write",
      keys: ["t"],
      in: [.inspector],
      help: "only this write, from the key to its echo"
    ) { $0.followSelectedWrite() }
    .hint("this write", rank: 7),
    BoundAction("keepalives", keys: ["a"], in: [.inspector], help: "show or hide keepalives") {
      $0.session.inspector.toggleKeepalives()
    },
    BoundAction("clear", keys: ["x"], in: [.inspector], help: "forget all events") {
      $0.session.inspector.clear()
    }
    .hint("clear", rank: 9),
    BoundAction(
      "save",
      keys: ["w"],
      in: [.inspector],
      help: "write the events to a file of JSON lines"
    ) { [.environment(.writeWire($0.session.inspector.lines, file: $0.wireFile))] }
    .hint("save", rank: 8),
    BoundAction(
      .back,
      keys: ["q", "Esc", "^C"],
      in: [.inspector],
      help: "everything again, or back"
    ) { $0.leaveInspector() }
    .hint("back", rank: 2),
    BoundAction(.send, keys: ["Enter"], in: [.filter], help: "keep what fits") {
      $0.stack[InspectorScreen.self]?.isFiltering = false
    }
    .hint("keep", rank: 1),
    BoundAction(.back, keys: ["Esc", "^C"], in: [.filter], help: "show all paths") {
      model -> Void in
      model.stack[InspectorScreen.self]?.isFiltering = false
      model.session.inspector.clearFilter()
    }
    .hint("all", rank: 2),
  ]
}
