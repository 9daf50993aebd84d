import ArgumentParser
import BlogModel
import Dispatch
import RealtimeCore
import RealtimeDatabase

/// Prints what happens, a line for each event.
struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a line for each change below a path, until it is ended."
  )

  @Argument(help: "The path.", transform: DashedWord.restore)
  var path = "/posts"

  @Option(help: ArgumentHelp("End after so many events.", valueName: "n"))
  var count: Int?

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let path = try DatabasePath.parse(path)
    if let count, count < 1 { throw CommandFailure(.usage, "--count must be at least 1") }
    let session = try BlogSession(options, isEndless: true)
    let events = AsyncThrowingStream<WatchEvent, any Error> { continuation in
      session.database.reference(withPath: path).observe(
        [.childAdded, .childChanged, .childMoved, .childRemoved, .value]
      ) { type, snapshot, previousKey in
        // Data without children raise no child events; they are told of as a whole.
        if type == .value, snapshot.hasChildren() { return }
        continuation.yield(WatchEvent(type: type, snapshot: snapshot, previousKey: previousKey))
      } withCancel: { error in
        continuation.finish(throwing: error)
      }
    }
    var remaining = count
    for try await event in events {
      options.json ? Output.line(event.json) : Output.line(untrusted: event.text)
      remaining = remaining.map { $0 - 1 }
      if remaining == 0 { return }
    }
  }
}

/// An event as it is printed.
private struct WatchEvent: Sendable {
  let type: DataEventType
  let snapshot: DataSnapshot
  let previousKey: String?

  private var name: String {
    switch type {
    case .childAdded: "child_added"
    case .childChanged: "child_changed"
    case .childMoved: "child_moved"
    case .childRemoved: "child_removed"
    case .value: "value"
    }
  }

  var text: String { "\(name) \(snapshot.ref.pathText) \(snapshot.jsonValue.text)" }

  var json: JSONValue {
    .object(
      ("event", .string(name)),
      ("path", .string(snapshot.ref.pathText)),
      ("previousKey", previousKey.map { .string($0) } ?? .null),
      ("data", snapshot.jsonValue)
    )
  }
}
