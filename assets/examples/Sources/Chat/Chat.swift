import RealtimeDatabase

/// A room to talk in: everyone who opens the same database is in it.
struct Chat: Sendable {
  struct Line: Codable, Sendable {
    var name: String
    var text: String
  }

  private let lines: DatabaseReference
  private let people: DatabaseReference

  init(_ database: Database) {
    lines = database.reference(withPath: "chat/lines")
    people = database.reference(withPath: "chat/people")
  }

  /// Shows a name among those present until the connection ends, however it ends.
  func enter(as name: String) async throws {
    let me = people.childByAutoId()
    // First arrange the end, then begin: a crash in between leaves nobody behind.
    try await me.onDisconnectRemoveValue()
    try await me.setValue(name)
  }

  func say(_ text: String, as name: String) async throws {
    try await lines.childByAutoId().setValue(from: Line(name: name, text: text))
  }

  /// Hands over the last twenty lines and each one that follows, until the task is cancelled.
  func listen(_ show: @Sendable (Line) -> Void) async throws {
    for try await case .childAdded(let snapshot, _) in lines.queryLimited(toLast: 20).childEvents()
    {
      if let line = try? snapshot.data(as: Line.self) { show(line) }
    }
  }

  /// Who is here.
  func present() async throws -> [String] {
    try await people.getData().childSnapshots.compactMap { $0.value as? String }.sorted()
  }
}
