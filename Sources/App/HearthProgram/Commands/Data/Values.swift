import ArgumentParser
import RealtimeCore
import RealtimeDatabase

struct Get: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print the data at a path as JSON."
  )

  @Argument("The path, such as /posts.")
  var path: String

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let path = try DatabasePath.parse(path)
    let session = try BlogSession(options)
    let snapshot = try await session.database.reference(withPath: path).getData()
    Output.line(snapshot.jsonValue)
  }
}

struct SetValue: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Replace the data at a path with JSON; null removes it."
  )

  @Argument("The path, such as /notes/today.")
  var path: String

  @Argument("The data as JSON; - reads it from stdin.")
  var value: String

  @OptionGroup var options: CommonOptions

  func run() async throws {
    // Without its variable, "/notes/$day" would mean all notes.
    if path != "/", "\(path)/".contains("//") {
      throw CommandFailure(.usage, "the path \(path) has an empty key, which nothing can have")
    }
    let path = try DatabasePath.parse(path)
    let bytes = value == "-" ? try InputFile.bytes("-") : Array(value.utf8)
    let json = try DatabasePath.json(bytes, from: "the value")
    let session = try BlogSession(options)
    try await session.database.reference(withPath: path).setValue(json: json)
  }
}

struct Watch: BlogCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print a line for each change below a path, until it is stopped."
  )

  @Argument(help: "The path.", transform: DashedWord.restore)
  var path = "/posts"

  @Option(help: "Stop after this many events.".taking("n"))
  var count: Int?

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let path = try DatabasePath.parse(path)
    if let count, count < 1 {
      throw CommandFailure(.usage, "--count must be at least 1")
    }
    Output.endWithReaders()
    let session = try BlogSession(options, isEndless: true)
    let events = AsyncThrowingStream<WatchEvent, any Error> { continuation in
      session.database.reference(withPath: path).observe(
        [.childAdded, .childChanged, .childMoved, .childRemoved, .value]
      ) { type, snapshot, previousKey in
        // Data without children causes no child events; it is reported as a whole.
        if type == .value, snapshot.hasChildren() { return }
        continuation.yield(WatchEvent(type: type, snapshot: snapshot, previousKey: previousKey))
      } withCancel: { error in
        continuation.finish(throwing: error)
      }
    }
    var remaining = count
    for try await event in events {
      options.answer(event.text, json: event.json)
      remaining = remaining.map { $0 - 1 }
      if remaining == 0 { return }
    }
  }
}

private struct WatchEvent: Sendable {
  let type: DataEventType
  let snapshot: DataSnapshot
  let previousKey: String?

  var text: String { "\(type.name) \(snapshot.ref.pathText) \(snapshot.jsonValue.text)" }

  var json: JSONValue {
    .object(
      ("event", .string(type.name)),
      ("path", .string(snapshot.ref.pathText)),
      ("previousKey", previousKey.map { .string($0) } ?? .null),
      ("data", snapshot.jsonValue)
    )
  }
}
