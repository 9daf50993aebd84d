import BlogModel

/// The last minutes of a program as the lines of a recording, in bounded memory.
///
/// The lines are kept in two parts. When the newer part is long enough and a list is on the screen,
/// it becomes the older one and a new part begins. Before the older part stands what the lists held
/// when it began, so that its first screen is complete, however long the program has been running.
package struct RecentRecording {
  /// The number of bytes after which a part ends at the next list that is shown.
  static let partBytes = 1_000_000
  /// The number of bytes after which a part ends, whatever is shown.
  static let longestPartBytes = 2_000_000
  /// The time after which a part ends at the next list that is shown, in milliseconds.
  static let partTime: Int64 = 5 * 60_000
  /// The largest number of comments on the open post that are recorded, the newest ones.
  static let mostComments = 500
  /// The largest number of rows between the top and the selected post that are repeated.
  private static let longestWay = 600

  private struct Part {
    /// The lines that lead to the beginning, for a part that has none before it.
    var beginning = ""
    var lines: [String] = []
    var byteCount = 0
    var began: Int64
  }

  private var writer = RecordingWriter()
  private var older: Part?
  private var newer = Part(began: 0)
  /// The last event on each subject, and its position among all events.
  private var latest: [EventSubject: (number: Int, event: Event)] = [:]
  private var configuration: Event?
  private var count = 0

  package init() {}

  package mutating func add(_ entries: [RecordingEntry], after model: Model) {
    for entry in entries { add(entry) }
    if isDue(model) { beginPart(from: model) }
  }

  private mutating func add(_ entry: RecordingEntry) {
    switch entry {
    case .event(.blog(.comments(let id, let all))) where all.count > Self.mostComments:
      add(.event(.blog(.hasEarlierComments(id, true))))
      return add(.event(.blog(.comments(id, all.suffix(Self.mostComments)))))
    case .start(let start):
      latest = [:]
      if newer.lines.isEmpty { newer.began = start.now }
    case .event(let event):
      count += 1
      if case .configured = event { configuration = event }
      if let subject = event.subject { latest[subject] = (count, event) }
    }
    let line = writer.lines(for: entry)
    guard !line.isEmpty else { return }
    newer.lines.append(line)
    newer.byteCount += line.utf8.count
  }

  /// The lines so far, which are a whole recording.
  package var text: String {
    var writer = writer
    let rest = writer.finish()
    let before = older.map { [$0.beginning] + $0.lines } ?? [newer.beginning]
    return (before + newer.lines).joined() + rest
  }

  private func isDue(_ model: Model) -> Bool {
    if newer.byteCount >= Self.longestPartBytes { return true }
    guard model.context == .list else { return false }
    return newer.byteCount >= Self.partBytes || model.now - newer.began >= Self.partTime
  }

  private mutating func beginPart(from model: Model) {
    latest = latest.filter { !$0.key.concernsOpenPost || model.openPostID != nil }
    newer.lines.append(writer.finish())
    older = newer
    writer = RecordingWriter()
    newer = Part(began: model.now)
    var events = [Event.tick(now: model.now), .started]
    if let configuration { events.insert(configuration, at: 0) }
    events += latest.values.sorted { $0.number < $1.number }.map(\.event)
    events += Self.way(to: model)
    let entries = [.start(RecordingStart(model))] + events.map { RecordingEntry.event($0) }
    // The lines that follow build on these, and likewise on those of the older part.
    newer.beginning = entries.map { writer.lines(for: $0) }.joined() + writer.finish()
  }

  /// The commands that lead from the first list to the list and the post that are selected.
  private static func way(to model: Model) -> [Event] {
    let list: String
    switch model.tab {
    case .recent, .author: list = "show-recent"
    case .top: list = "show-top"
    case .mine: list = "show-mine"
    case .myTop: list = "show-my-top"
    case .following: list = "show-following"
    case .bookmarks: list = "show-bookmarks"
    case .tag(let tag): list = "tag \(tag)"
    }
    let rows = min(model.feed.list.selectedIndex ?? 0, longestWay)
    return [.command(list), .command("top")] + Array(repeating: .command("down"), count: rows)
  }
}

extension RecordingStart {
  /// The start of a program that goes on where the model is.
  fileprivate init(_ model: Model) {
    self.init(
      me: model.me,
      databaseName: model.connection.databaseName,
      size: model.size,
      isASCII: model.session.display.terminalGlyphs.repertoire == .ascii,
      now: model.now,
      unsent: model.unsent,
      history: model.session.commands.history
    )
  }
}
