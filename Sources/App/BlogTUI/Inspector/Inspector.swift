/// What goes over the wire, as a list that follows its end until it is paused.
///
/// States: closed ⇄ open ⇄ paused. While it is closed nothing is told to it, and it keeps its events. When it
/// is opened again, what has happened meanwhile comes in behind them, as far back as it was noted.
package struct Inspector: Equatable, Sendable {
  /// The number of events that are kept.
  static let limit = 2_000

  /// Whether it is in front.
  package internal(set) var isOpen = false
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
  private var waiting: [WireEvent] = []

  /// The number of events that came during the pause.
  package var waitingCount: Int { waiting.count }

  /// The event of a row.
  package func event(_ number: Int) -> WireEvent? {
    events.indices.contains(number - first) ? events[number - first] : nil
  }

  /// Takes events in; a view of the end stays at the end.
  mutating func add(_ new: [WireEvent]) {
    for event in new { follow(event) }
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

  /// Stops the list, or goes on with all that has come meanwhile.
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
    // The first line tells of listeners and writes.
    list.resize(to: Size(width: size.width, height: max(1, size.height - 1)))
  }

  /// The events that are shown, as lines of a file.
  package var text: String {
    list.ids.compactMap { event($0) }.map { event in
      let heading = "\(Clock.text(event.time)) \(event.kind.rawValue) \(event.title)\n"
      let lines = event.detail.split(separator: "\n", omittingEmptySubsequences: false)
      return event.detail.isEmpty ? heading : heading + lines.map { "    \($0)\n" }.joined()
    }.joined()
  }
}
