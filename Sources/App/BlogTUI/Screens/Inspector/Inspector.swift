/// The traffic on the wire, as a list that follows its end until it is paused.
///
/// States: closed ⇄ open ⇄ paused. While the ``InspectorScreen`` is closed, the inspector keeps its
/// events and receives no new ones. When the screen is opened again, the events recorded in between
/// are appended, as far back as the record goes.
package struct Inspector: Equatable, Sendable {
  static let limit = 2_000
  private static let reportedEvents = 500

  /// Whether new events are held back.
  package private(set) var isPaused = false
  /// The only kind that is shown; nil means all.
  package private(set) var kind: WireEvent.Kind?
  private(set) var showsKeepalives = false
  /// The text that paths must begin with, if it begins with a slash, or else contain.
  private(set) var field = TextField(limit: 200)
  /// The only write that is shown; nil means everything.
  private(set) var followed: FollowedWrite?
  /// What is shown, counted.
  private(set) var tally = Tally()
  /// The rows, identified by the numbers of their events.
  package internal(set) var list = ListView<Int>()
  package private(set) var listeners: Set<String> = []
  /// The writes that are not acknowledged or refused yet.
  package private(set) var writes: Set<String> = []
  /// What the user has just done, which may cause writes.
  package internal(set) var cause: String?

  private var entries: [InspectedEvent] = []
  private var first = 0
  private var requests = OpenRequests()
  private var waiting: [InspectedEvent] = []

  /// What becomes of an event.
  fileprivate enum Verdict {
    case shown
    case hiddenKeepalive
    case leftOut
  }

  /// How much is shown, and how much is not.
  struct Tally: Equatable, Sendable {
    /// More than any frame has, so that no sum overflows.
    private static let largest = 1 << 40

    /// The bytes of the frames that are shown.
    fileprivate(set) var bytes = 0
    /// The signs of life that would be shown otherwise.
    fileprivate(set) var hiddenKeepalives = 0

    fileprivate mutating func add(_ verdict: Verdict, _ entry: InspectedEvent, times: Int = 1) {
      switch verdict {
      case .shown: bytes += times * min(Self.largest, max(0, entry.event.size ?? 0))
      case .hiddenKeepalive: hiddenKeepalives += times
      case .leftOut: break
      }
    }
  }

  /// The number of events that arrived while paused.
  package var waitingCount: Int { waiting.count }

  var count: Int { entries.count }

  func entry(_ number: Int) -> InspectedEvent? {
    entries.indices.contains(number - first) ? entries[number - first] : nil
  }

  func events(in group: String) -> [WireEvent] {
    entries.filter { $0.event.group == group }.map(\.event)
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

  private mutating func show(_ new: [InspectedEvent]) {
    let follows = list.selectedIndex == nil || list.selectedIndex == list.ids.count - 1
    let start = first + entries.count
    entries += new
    let excess = max(0, entries.count - Self.limit)
    let filter = PathFilter(field.text)
    for entry in entries.prefix(excess) { tally.add(verdict(on: entry, filter), entry, times: -1) }
    entries.removeFirst(excess)
    first += excess
    guard followed == nil, start >= first else { return refilter(follows: follows) }
    // Only what is new is looked at, so that a quick sequence of events costs little.
    var ids = list.ids
    ids.removeFirst(ids.firstIndex { $0 >= first } ?? ids.count)
    for number in start..<(first + entries.count) {
      let entry = entries[number - first]
      let verdict = verdict(on: entry, filter)
      tally.add(verdict, entry)
      if verdict == .shown { ids.append(number) }
    }
    update(ids, follows: follows)
  }

  private func verdict(on entry: InspectedEvent, _ filter: PathFilter) -> Verdict {
    guard kind == nil || entry.event.kind == kind, filter.passes(entry) else { return .leftOut }
    return entry.isKeepalive && !showsKeepalives ? .hiddenKeepalive : .shown
  }

  /// - Complexity: O(n) in the number of events and the bounded length of their paths
  private mutating func refilter(follows: Bool) {
    tally = Tally()
    let filter = PathFilter(field.text)
    let members = followed.map { Set($0.members(of: entries)) }
    var ids: [Int] = []
    for (index, entry) in entries.enumerated() {
      let verdict =
        members.map { $0.contains(index) ? .shown : .leftOut } ?? verdict(on: entry, filter)
      tally.add(verdict, entry)
      if verdict == .shown { ids.append(index + first) }
    }
    update(ids, follows: follows)
  }

  private mutating func update(_ ids: [Int], follows: Bool) {
    list.update(ids: ids)
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
    refilter(follows: true)
  }

  mutating func toggleKeepalives() {
    showsKeepalives.toggle()
    refilter(follows: false)
  }

  mutating func type(_ key: KeyEvent) {
    if field.handle(key) == .changed { refilter(follows: true) }
  }

  mutating func moveCursor(toColumn column: Int) { field.moveCursor(toColumn: column) }

  /// Shows the events of all paths.
  mutating func clearFilter() {
    field.setText("")
    refilter(follows: false)
  }

  /// Shows only the write that the selected event belongs to; false if it belongs to none.
  mutating func followSelected() -> Bool {
    guard let number = list.selection,
      let write = FollowedWrite(at: number - first, in: entries)
    else { return false }
    followed = write
    refilter(follows: false)
    return true
  }

  /// Shows what does not belong to the followed write as well; the selection stays.
  mutating func stopFollowing() {
    followed = nil
    refilter(follows: false)
  }

  /// The events of the followed write; nil if everything is shown.
  var followedEvents: [InspectedEvent]? { followed.map { _ in list.ids.compactMap(entry) } }

  mutating func clear() {
    first += entries.count
    entries = []
    waiting = []
    followed = nil
    refilter(follows: true)
  }

  mutating func resize(to size: Size) {
    // The first line shows the listeners and writes.
    list.resize(to: Size(width: size.width, height: max(1, size.height - 1)))
    field.resize(to: Size(width: max(1, size.width), height: 1))
  }

  /// The last events, whether they are shown or not, as the lines of a file: a paragraph for each.
  package func recentText(with later: [WireEvent]) -> String {
    var all = self
    all.add(later)
    return (all.entries + all.waiting).suffix(Self.reportedEvents).map(\.event).map { event in
      let size = event.size.map { " (\($0) bytes)" } ?? ""
      let time = Clock.preciseText(event.time)
      let heading = "\(time) \(event.kind.rawValue) \(event.title)\(size)\n"
      return heading + event.detailLines.map { "    \($0)\n" }.joined()
    }.joined()
  }

  /// The events that are shown, as lines of JSON.
  package var lines: String {
    list.ids.compactMap { entry($0)?.line }.joined()
  }
}

/// The filter of the inspector by path, which ignores case.
private struct PathFilter {
  private let needle: Needle
  private let isEmpty: Bool
  private let isPrefix: Bool

  init(_ text: String) {
    needle = Needle(text)
    isEmpty = text.isEmpty
    isPrefix = text.hasPrefix("/")
  }

  /// Whether one of the event's paths begins with the text, or contains it if it has no slash in
  /// front.
  func passes(_ entry: InspectedEvent) -> Bool {
    guard !isEmpty else { return true }
    func passes(_ path: String) -> Bool { isPrefix ? needle.begins(path) : needle.isIn(path) }
    return entry.path.map(passes) == true || entry.places.contains(where: passes)
  }
}

extension WireEvent {
  /// All details, with JSON indented.
  var detailLines: [String] {
    guard !detail.isEmpty else { return [] }
    return detail.split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { IndentedJSON.lines(of: String($0)) }
  }
}
