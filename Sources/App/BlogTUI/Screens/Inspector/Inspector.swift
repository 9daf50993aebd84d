/// One thing that happened between this program and the database.
package struct WireEvent: Hashable, Sendable, Codable {
  /// What kind of thing.
  package enum Kind: String, CaseIterable, Hashable, Sendable, Codable {
    /// A frame that went to the server.
    case sent
    /// A frame that came from the server.
    case received
    /// Data that changed for an observer.
    case event
    /// A path that is now listened to, or no longer.
    case listener
    /// A write: made, acknowledged or refused.
    case write
    /// An attempt of a transaction: the value read, the value proposed, the verdict.
    case transaction
    case connection
  }

  /// What became of a listener or a write.
  package enum Change: Hashable, Sendable, Codable {
    /// It exists now.
    case begun(String)
    /// It no longer exists.
    case ended(String)
  }

  /// The time in milliseconds since 1970.
  package let time: Int64
  /// What kind of thing.
  package let kind: Kind
  /// One line about it.
  package let title: String
  /// All details, of any number of lines.
  package let detail: String
  /// What became of a listener or a write, each with a name of its own.
  package let change: Change?
  /// The name that all events of one transaction have; nil for others.
  package let group: String?

  /// Makes an event.
  package init(
    time: Int64,
    kind: Kind,
    title: String,
    detail: String = "",
    change: Change? = nil,
    group: String? = nil
  ) {
    self.time = time
    self.kind = kind
    self.title = title
    self.detail = detail
    self.change = change
    self.group = group
  }
}

/// What goes over the wire, as a list that follows its end until it is paused.
///
/// States: closed ⇄ open ⇄ paused. While the ``InspectorScreen`` is closed, nothing is told to it,
/// and it keeps its events. When the screen is opened again, what has happened meanwhile comes in
/// behind them, as far back as it was noted.
package struct Inspector: Equatable, Sendable {
  /// The number of events that are kept.
  static let limit = 2_000

  /// Whether new events stay out of view.
  package private(set) var isPaused = false
  /// The only kind that is shown; nil shows all.
  package private(set) var kind: WireEvent.Kind?
  /// The events, oldest first, numbered from ``first``.
  package private(set) var events: [WireEvent] = []
  /// The rows, by the numbers of their events.
  package internal(set) var list = ListView<Int>()
  /// The places that are listened to.
  package private(set) var listeners: Set<String> = []
  /// The writes that are not answered.
  package private(set) var writes: Set<String> = []

  private var first = 0
  private var requests = OpenRequests()
  private var waiting: [WireEvent] = []

  /// The number of events that arrived while paused.
  package var waitingCount: Int { waiting.count }

  /// The event of a row.
  package func event(_ number: Int) -> WireEvent? {
    events.indices.contains(number - first) ? events[number - first] : nil
  }

  /// Adds events; a view of the end stays at the end.
  mutating func add(_ new: [WireEvent]) {
    for event in new { follow(event) }
    let new = new.map { requests.described($0) }
    if isPaused {
      waiting += new
      waiting.removeFirst(max(0, waiting.count - Self.limit))
    } else {
      show(new)
    }
  }

  private mutating func follow(_ event: WireEvent) {
    switch (event.kind, event.change) {
    case (.listener, .begun(let name)?): listeners.insert(name)
    case (.listener, .ended(let name)?): listeners.remove(name)
    case (.write, .begun(let name)?): writes.insert(name)
    case (.write, .ended(let name)?): writes.remove(name)
    case (.sent, _), (.received, _), (.event, _), (.transaction, _), (.connection, _),
      (.listener, nil), (.write, nil):
      break
    }
  }

  private mutating func show(_ new: [WireEvent]) {
    let follows = list.selectedIndex == nil || list.selectedIndex == list.ids.count - 1
    events += new
    let excess = max(0, events.count - Self.limit)
    events.removeFirst(excess)
    first += excess
    filter(follows: follows)
  }

  private mutating func filter(follows: Bool) {
    let fitting = events.indices.filter { kind == nil || events[$0].kind == kind }
    list.update(ids: fitting.map { $0 + first })
    if follows { list.move(to: list.ids.count - 1) }
  }

  /// Pauses the list, or resumes with everything that arrived in the meantime.
  mutating func togglePause() {
    isPaused.toggle()
    guard !isPaused else { return }
    let missed = waiting
    waiting = []
    show(missed)
  }

  /// Shows the next kind only, and all kinds after the last.
  mutating func showNextKind() {
    let all = WireEvent.Kind.allCases
    let index = kind.flatMap { all.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    kind = index < all.count ? all[index] : nil
    filter(follows: true)
  }

  /// Forgets all events.
  mutating func clear() {
    first += events.count
    events = []
    waiting = []
    filter(follows: true)
  }

  mutating func resize(to size: Size) {
    // The first line shows the listeners and writes.
    list.resize(to: Size(width: size.width, height: max(1, size.height - 1)))
  }

  /// The events that are shown, as lines of a file.
  package var text: String {
    list.ids.compactMap { event($0) }.map { event in
      let heading = "\(Clock.text(event.time)) \(event.kind.rawValue) \(event.title)\n"
      return heading + event.detailLines.map { "    \($0)\n" }.joined()
    }.joined()
  }
}

extension WireEvent {
  /// All details, with JSON indented.
  fileprivate var detailLines: [String] {
    guard !detail.isEmpty else { return [] }
    return detail.split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { IndentedJSON.lines(of: String($0)) }
  }
}

// MARK: The screen

/// The screen that shows the ``Inspector`` of the session, which goes on to keep its events.
struct InspectorScreen: AppScreen {
  static let layer = ScreenLayer.inspector

  /// A click on an event selects it, and a click on the selected one shows all about it.
  static func pick(_ row: Int, in model: inout Model) -> [Effect] {
    if model.session.inspector.list.selection == row {
      model.showSelectedWireEvent()
    } else {
      model.session.inspector.list.select(row)
    }
    return []
  }

  func context(in session: Session) -> Context { .inspector }

  mutating func scroll(
    by direction: Int,
    over target: ClickTarget?,
    session: inout Session
  )
    -> [Effect]?
  {
    session.inspector.list.move(by: wheelStep * direction)
    return []
  }

  func draw(on painter: inout Painter) { painter.paintInspector() }
}

extension Model {
  /// Whether the inspector is open.
  package var isInspecting: Bool { stack.contains(InspectorScreen.self) }

  /// Shows the inspector, or leaves it.
  mutating func toggleInspector() -> [Effect] {
    guard !isInspecting else { return closeInspector() }
    stack[InspectorScreen.self] = InspectorScreen()
    relayout()
    return [.watchWire(true)]
  }

  /// Closes the inspector if it is open; its events are kept.
  mutating func closeInspector() -> [Effect] {
    guard isInspecting else { return [] }
    stack[InspectorScreen.self] = nil
    return [.watchWire(false)]
  }

  /// Shows all details of the selected event on a page.
  mutating func showSelectedWireEvent() {
    guard let event = session.inspector.list.selection.flatMap(session.inspector.event) else {
      return
    }
    let title = SafeText(untrusted: "\(Clock.text(event.time)) \(event.kind.rawValue)")
    if let group = event.group {
      let events = session.inspector.events.filter { $0.group == group }
      if let tries = TransactionTries(events) {
        return show(Page(title: title, content: .tries(tries)))
      }
    }
    let paragraphs =
      [Page.Paragraph(text: SafeText(untrusted: event.title), isHeading: true)]
      + event.detailLines.map { Page.Paragraph(text: SafeText(untrusted: $0), isHeading: false) }
    show(Page(title: title, content: .text(paragraphs)))
  }
}

/// The actions of the inspector.
enum InspectorActions {
  static let motions = BoundAction.motions(in: .inspector) { model, motion in
    model.session.inspector.list.move(motion)
    return []
  }

  static let all: [BoundAction] = [
    BoundAction(
      .open,
      keys: ["Enter"],
      in: [.inspector],
      help: "details of the event",
      hint: .init("details", rank: 3),
      change: { $0.showSelectedWireEvent() }
    ),
    BoundAction(
      "pause",
      keys: ["p"],
      in: [.inspector],
      help: "pause or resume",
      hint: .init("pause", rank: 4),
      change: { $0.session.inspector.togglePause() }
    ),
    BoundAction(
      "next-kind",
      keys: ["f", "Tab"],
      in: [.inspector],
      help: "only one kind of events",
      hint: .init("filter", rank: 5),
      change: { $0.session.inspector.showNextKind() }
    ),
    BoundAction(
      "clear",
      keys: ["x"],
      in: [.inspector],
      help: "forget all events",
      hint: .init("clear", rank: 8),
      change: { $0.session.inspector.clear() }
    ),
    BoundAction(
      "save",
      keys: ["w"],
      in: [.inspector],
      help: "write the events to a file",
      hint: .init("save", rank: 6),
      perform: { [.write($0.session.inspector.text, file: "hearth-wire.txt")] }
    ),
    BoundAction(
      .back,
      keys: ["q", "Esc", "^C"],
      in: [.inspector],
      help: "back",
      hint: .init("back", rank: 2),
      perform: { $0.closeInspector() }
    ),
  ]
}
