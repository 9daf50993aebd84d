private import BlogModel
private import Foundation

/// Everything that one terminal took notice of, in order: its screens follow from it.
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
      throw RecordingError(line: 1, reason: "this is no recording of hearth")
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
      let reason = number == 1 ? "this is no recording of hearth" : Self.reason(error)
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
      throw RecordingError(line: 1, reason: "this is no recording of hearth")
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
      return path.isEmpty ? "it is no JSON" : "\(path): \(context.debugDescription)"
    @unknown default: return "it cannot be read"
    }
  }
}
