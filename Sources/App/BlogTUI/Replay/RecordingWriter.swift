private import BlogModel
private import Foundation

/// Makes the lines of a recording, one by one as things happen.
///
/// Each call returns whole lines, so whatever ends the program leaves a file that can be read.
package struct RecordingWriter {
  private var posts: [FeedKind: [Post]] = [:]
  /// The time that waits for what happens then.
  private var time: Int64?
  private var hasBegun = false
  private let encoder: JSONEncoder

  /// Makes a writer of an empty file.
  package init() {
    encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// The lines for what has happened, each with a newline; empty while there is nothing to write yet.
  package mutating func lines(for entry: RecordingEntry) -> String {
    switch entry {
    case .start(let start):
      let rest = finish()
      posts = [:]
      var line = RecordingLine(start: start)
      if !hasBegun {
        line.format = RecordingLine.format
        line.version = RecordingLine.version
      }
      hasBegun = true
      return rest + text(line)
    case .event(.tick(let now)):
      let rest = finish()
      time = now
      return rest
    case .event(.blog(.feed(let kind, let new))):
      let runs = PostRun.runs(of: new, since: posts[kind] ?? [])
      posts[kind] = new
      return text(RecordingLine(time: takeTime(), feed: kind, posts: runs))
    case .event(let event):
      return text(RecordingLine(time: takeTime(), event: event))
    }
  }

  /// The line for the time that has passed since the last event, if it was not told yet.
  package mutating func finish() -> String {
    takeTime().map { text(RecordingLine(time: $0)) } ?? ""
  }

  private mutating func takeTime() -> Int64? {
    defer { time = nil }
    return time
  }

  private func text(_ line: RecordingLine) -> String {
    guard let data = try? encoder.encode(line) else {
      assertionFailure("an event that is no JSON")
      return ""
    }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}
