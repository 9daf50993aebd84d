/// An event between this program and the database.
package struct WireEvent: Hashable, Sendable, Codable {
  /// The kind of an event.
  package enum Kind: String, CaseIterable, Hashable, Sendable, Codable {
    /// A frame that was sent to the server.
    case sent
    /// A frame that was received from the server.
    case received
    /// Data that changed for an observer.
    case event
    /// A path to which the program starts or stops listening.
    case listener
    /// A write: made, acknowledged or refused.
    case write
    /// An attempt of a transaction: the value read, the value proposed, the verdict.
    case transaction
    case connection
  }

  /// The beginning or end of a listener or a write.
  package enum Change: Hashable, Sendable, Codable {
    /// It has begun.
    case begun(String)
    /// It has ended.
    case ended(String)
  }

  /// The time in milliseconds since 1970.
  package let time: Int64
  /// The kind of the event.
  package let kind: Kind
  /// A summary on one line.
  package let title: String
  /// All details, on any number of lines.
  package let detail: String
  /// The change to a listener or a write, each of which has a name of its own.
  package let change: Change?
  /// The name that all events of one transaction share; nil for other events.
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

/// The traffic on the wire, as a list that follows its end until it is paused.
///
/// States: closed ⇄ open ⇄ paused. While the ``InspectorScreen`` is closed, the inspector keeps its
/// events and receives no new ones. When the screen is opened again, the events recorded in between
/// are appended, as far back as the record goes.
package struct Inspector: Equatable, Sendable {
  /// The largest number of events that are kept.
  static let limit = 2_000
  /// The largest number of events in a report.
  private static let reportedEvents = 500

  /// Whether new events are held back.
  package private(set) var isPaused = false
  /// The only kind that is shown; nil means all.
  package private(set) var kind: WireEvent.Kind?
  /// The events, oldest first, numbered from ``first``.
  package private(set) var events: [WireEvent] = []
  /// The rows, identified by the numbers of their events.
  package internal(set) var list = ListView<Int>()
  /// The paths that have listeners.
  package private(set) var listeners: Set<String> = []
  /// The writes that are not acknowledged or refused yet.
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

  /// Adds events; if the last row is selected, the selection moves to the new end.
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

  /// Pauses the list, or resumes with everything that arrived in between.
  mutating func togglePause() {
    isPaused.toggle()
    guard !isPaused else { return }
    let missed = waiting
    waiting = []
    show(missed)
  }

  /// Shows only the next kind; after the last kind, shows all.
  mutating func showNextKind() {
    let all = WireEvent.Kind.allCases
    let index = kind.flatMap { all.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    kind = index < all.count ? all[index] : nil
    filter(follows: true)
  }

  /// Removes all events.
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

  /// The last events, whether they are shown or not, as the lines of a file.
  ///
  /// - Parameter later: Events that have not been added.
  /// - Returns: One paragraph for each event.
  package func recentText(with later: [WireEvent]) -> String {
    var all = self
    (all.isPaused, all.kind) = (false, nil)
    all.show(waiting)
    all.add(later)
    all.list.update(ids: all.list.ids.suffix(Self.reportedEvents))
    return all.text
  }

  /// The events that are shown, as the lines of a file.
  package var text: String {
    list.ids.compactMap { event($0) }.map { event in
      let heading = "\(Clock.preciseText(event.time)) \(event.kind.rawValue) \(event.title)\n"
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

/// The screen that shows the ``Inspector`` of the session, which outlives the screen.
struct InspectorScreen: AppScreen {
  static let layer = ScreenLayer.inspector

  /// A click on an event selects it; a click on the selected event shows its details.
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

  /// Opens or closes the inspector.
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

  /// Shows all details of the selected event on a page.
  mutating func showSelectedWireEvent() {
    guard let event = session.inspector.list.selection.flatMap(session.inspector.event) else {
      return
    }
    let title = SafeText(untrusted: "\(Clock.preciseText(event.time)) \(event.kind.rawValue)")
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
      perform: { [.environment(.write($0.session.inspector.text, file: "hearth-wire.txt"))] }
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
