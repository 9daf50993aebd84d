import BlogModel
private import Foundation

/// A line of a recording in its file format; absent values are omitted.
struct RecordingLine: Codable {
  /// The newest form of the lines that is understood here, and the one that is written.
  static let version = 1
  /// What the first line calls the file.
  static let format = "hearth recording"

  /// The kind of the file, on its first line.
  var format: String?
  /// The form of the lines, on the first one.
  var version: Int?
  /// What a program began with.
  var start: RecordingStart?
  /// The time by the server's clock.
  var time: Int64?
  /// What happened, unless a list has changed.
  var event: Event?
  /// The list that has changed.
  var feed: FeedKind?
  /// What that list is now.
  var posts: [PostRun]?
}

/// Why a recording cannot be replayed.
package struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  package let line: Int
  /// What is wrong with it.
  package let reason: String

  /// The line and the reason.
  package var description: String { "line \(line): \(reason)" }
}

/// Everything one terminal handled, in order; its screens can be reproduced from it.
package struct Recording: Sendable {
  /// What the program began with.
  package let start: RecordingStart
  /// What came then.
  package let steps: [RecordedStep]
  /// Whether the last line was cut off, as by the end of a program that was killed.
  package let isTorn: Bool

  /// Makes a recording.
  package init(start: RecordingStart, steps: [RecordedStep], isTorn: Bool = false) {
    self.start = start
    self.steps = steps
    self.isTorn = isTorn
  }

  /// Reads a file.
  ///
  /// - Throws: ``RecordingError`` for the first line that cannot be understood; a last line without
  ///   its end is no error.
  package init(_ bytes: [UInt8]) throws(RecordingError) {
    let newline = UInt8(ascii: "\n")
    var lines = bytes.split(separator: newline, omittingEmptySubsequences: false)
    // Behind the last newline there is nothing, or a line that was cut off.
    let rest = lines.popLast() ?? []
    var reader = LineReader()
    for (index, line) in lines.enumerated() { try reader.read(line, number: index + 1) }
    var isTorn = false
    if !rest.isEmpty {
      do {
        try reader.read(rest, number: lines.count + 1)
      } catch let error {
        guard reader.start != nil else { throw error }
        isTorn = true
      }
    }
    guard let start = reader.start else {
      throw RecordingError(line: 1, reason: "this is not a recording of hearth")
    }
    self.init(start: start, steps: reader.steps, isTorn: isTorn)
  }
}

/// Reads the lines of a recording, of which each builds on those before.
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
      let reason = number == 1 ? "this is not a recording of hearth" : Self.reason(error)
      throw RecordingError(line: number, reason: reason)
    }
    if number == 1 { return try begin(line) }
    if let next = line.start {
      posts = [:]
      steps.append(RecordedStep(entry: .start(next)))
    } else if let kind = line.feed {
      let before = posts[kind] ?? []
      guard let new = PostRun.posts(of: line.posts ?? [], since: before) else {
        throw RecordingError(line: number, reason: "it keeps posts that were not there")
      }
      posts[kind] = new
      steps.append(RecordedStep(time: line.time, entry: .event(.blog(.feed(kind, posts: new)))))
    } else if line.time != nil || line.event != nil {
      steps.append(RecordedStep(time: line.time, entry: line.event.map { .event($0) }))
    } else {
      throw RecordingError(line: number, reason: "it tells nothing")
    }
  }

  private mutating func begin(_ line: RecordingLine) throws(RecordingError) {
    guard line.format == RecordingLine.format, let version = line.version else {
      throw RecordingError(line: 1, reason: "this is not a recording of hearth")
    }
    guard version == RecordingLine.version else {
      throw RecordingError(
        line: 1,
        reason: "form \(version) of recordings is not known here, only \(RecordingLine.version)"
      )
    }
    guard let start = line.start else {
      throw RecordingError(line: 1, reason: "it does not tell how the program began")
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

  /// The lines for what has happened, each with a newline; empty while there is nothing to write
  /// yet.
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
      assertionFailure("an event that is not JSON")
      return ""
    }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}

/// A part of a list of posts: posts that were in the list before, or a post that is new or changed.
///
/// A list of hundreds of posts in which one has another star costs a line of two hundred bytes.
enum PostRun: Hashable {
  /// So many posts of the list before, from that place.
  case kept(start: Int, count: Int)
  case post(Post)

  /// Tells a list by what has changed since it was told last.
  ///
  /// - Complexity: O(n) in the posts of both lists.
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

  /// The list again; nil when the runs do not belong to the list before.
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
