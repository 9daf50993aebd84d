import BlogModel
private import Foundation

/// A line of a recording in its file format; absent values are omitted.
struct RecordingLine: Codable {
  /// The version of the line format that is read and written.
  static let version = 1
  static let format = "hearth recording"

  /// The name of the format; only on the first line.
  var format: String?
  /// The version of the line format; only on the first line.
  var version: Int?
  var start: RecordingStart?
  /// The time by the server's clock.
  var time: Int64?
  /// The event, unless it is a changed list.
  var event: Event?
  /// The list that changed.
  var feed: FeedKind?
  /// The new posts of that list.
  var posts: [PostRun]?
}

/// Why a recording cannot be read.
package struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  package let line: Int
  package let reason: String

  package var description: String { "line \(line): \(reason)" }
}

/// Everything that one terminal handled, in order; its screens can be reproduced from it.
package struct Recording: Sendable {
  package let start: RecordingStart
  package let steps: [RecordedStep]
  /// Whether the last line was cut off, for example because the program was killed.
  package let isTorn: Bool

  /// Parses a file: a recording, or a report with one.
  ///
  /// - Throws: ``RecordingError`` for the first invalid line; an incomplete last line is not an
  ///   error.
  package init(_ bytes: [UInt8]) throws(RecordingError) {
    let newline = UInt8(ascii: "\n")
    let report = try Report.recording(in: bytes)
    let offset = report?.lineOffset ?? 0
    var lines = (report?.lines ?? bytes).split(separator: newline, omittingEmptySubsequences: false)
    // After the last newline there is nothing, or a line that was cut off.
    let rest = lines.popLast() ?? []
    var reader = LineReader()
    for (index, line) in lines.enumerated() { try reader.read(line, number: offset + index + 1) }
    var isTorn = false
    if !rest.isEmpty {
      do {
        try reader.read(rest, number: offset + lines.count + 1)
      } catch let error {
        guard reader.start != nil else { throw error }
        isTorn = true
      }
    }
    guard let start = reader.start else {
      throw RecordingError(line: 1, reason: "this is not a recording of hearth")
    }
    (self.start, self.isTorn, steps) = (start, isTorn, reader.steps)
  }
}

/// Reads the lines of a recording, each of which builds on the previous ones.
private struct LineReader {
  var start: RecordingStart?
  var steps: [RecordedStep] = []
  private var posts: [FeedKind: [Post]] = [:]
  private let decoder = JSONDecoder()

  mutating func read(_ bytes: ArraySlice<UInt8>, number: Int) throws(RecordingError) {
    let line: RecordingLine
    do {
      line = try decoder.decode(RecordingLine.self, from: Data(bytes))
    } catch {
      let reason = start == nil ? "this is not a recording of hearth" : Self.reason(error)
      throw RecordingError(line: number, reason: reason)
    }
    if start == nil { return try begin(line, number: number) }
    if let next = line.start {
      posts = [:]
      steps.append(RecordedStep(entry: .start(next)))
    } else if let kind = line.feed {
      let before = posts[kind] ?? []
      guard let new = PostRun.posts(of: line.posts ?? [], since: before) else {
        throw RecordingError(line: number, reason: "it restores posts that did not exist")
      }
      posts[kind] = new
      steps.append(RecordedStep(time: line.time, entry: .event(.blog(.feed(kind, posts: new)))))
    } else if line.time != nil || line.event != nil {
      steps.append(RecordedStep(time: line.time, entry: line.event.map { .event($0) }))
    } else {
      throw RecordingError(line: number, reason: "it records nothing")
    }
  }

  private mutating func begin(_ line: RecordingLine, number: Int) throws(RecordingError) {
    guard line.format == RecordingLine.format, let version = line.version else {
      throw RecordingError(line: number, reason: "this is not a recording of hearth")
    }
    guard version == RecordingLine.version else {
      throw RecordingError(
        line: number,
        reason: "recording format \(version) is not supported, only \(RecordingLine.version)"
      )
    }
    guard let start = line.start else {
      throw RecordingError(line: number, reason: "it does not say how the program began")
    }
    self.start = start
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "it cannot be read" }
    switch error {
    case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
      .valueNotFound(_, let context):
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return path.isEmpty ? "it is not JSON" : "\(path): \(context.debugDescription)"
    @unknown default: return "it cannot be read"
    }
  }
}

/// Produces the lines of a recording one by one as events happen.
///
/// Each call returns whole lines, so the file is readable however the program ends.
package struct RecordingWriter {
  private var posts: [FeedKind: [Post]] = [:]
  /// The time that the next event's line will record.
  private var time: Int64?
  private var hasBegun = false
  private let encoder: JSONEncoder

  package init() {
    encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  }

  /// The lines for an entry, each with a newline; empty if there is nothing to write yet.
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

  /// The line for the time that has passed since the last event, if it has not been written yet.
  package mutating func finish() -> String {
    takeTime().map { text(RecordingLine(time: $0)) } ?? ""
  }

  private mutating func takeTime() -> Int64? {
    defer { time = nil }
    return time
  }

  private func text(_ line: RecordingLine) -> String {
    guard let data = try? encoder.encode(line) else {
      assertionFailure("an event that is not JSON")
      return ""
    }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}

/// A part of a list: a run of posts from the previous list, or a single new or changed post.
///
/// When one post in a list of hundreds gets another star, the line takes two hundred bytes.
enum PostRun: Hashable {
  /// A number of posts from the previous list, beginning at an index.
  case kept(start: Int, count: Int)
  case post(Post)

  /// Describes a list by its differences from the previous list.
  ///
  /// - Complexity: O(n) in the number of posts of both lists
  static func runs(of posts: [Post], since before: [Post]) -> [PostRun] {
    var indices: [PostID: Int] = [:]
    for (index, post) in before.enumerated() { indices[post.id] = index }
    var runs: [PostRun] = []
    for post in posts {
      guard let index = indices[post.id], before[index] == post else {
        runs.append(.post(post))
        continue
      }
      if case .kept(let start, let count)? = runs.last, start + count == index {
        runs[runs.count - 1] = .kept(start: start, count: count + 1)
      } else {
        runs.append(.kept(start: index, count: 1))
      }
    }
    return runs
  }

  /// Restores the list; nil if the runs do not match the previous list.
  static func posts(of runs: [PostRun], since before: [Post]) -> [Post]? {
    var posts: [Post] = []
    for run in runs {
      switch run {
      case .kept(let start, let count):
        guard start >= 0, count > 0, start < before.count, count <= before.count - start else {
          return nil
        }
        posts += before[start..<(start + count)]
      case .post(let post): posts.append(post)
      }
    }
    return posts
  }
}

extension PostRun: Codable {
  init(from decoder: any Decoder) throws {
    if var numbers = try? decoder.unkeyedContainer() {
      self = .kept(start: try numbers.decode(Int.self), count: try numbers.decode(Int.self))
    } else {
      self = .post(try Post(from: decoder))
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .kept(let start, let count):
      var numbers = encoder.unkeyedContainer()
      try numbers.encode(start)
      try numbers.encode(count)
    case .post(let post): try post.encode(to: encoder)
    }
  }
}
