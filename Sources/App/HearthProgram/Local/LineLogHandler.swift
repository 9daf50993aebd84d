import Foundation
import Logging
import RealtimeCore
import RealtimeServer

/// How a log is written.
enum LogFormat: String, CaseIterable, Sendable {
  /// For people: the time, the level, the message and what belongs to it.
  case text
  /// For programs: an object a line.
  case json
}

/// Writes each log message as one line to a file or to stderr, so that nothing in it can begin another
/// line or steer a terminal.
struct LineLogHandler: LogHandler {
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  private let format: LogFormat
  private let file: LogFile?

  init(format: LogFormat, level: Logger.Level, file: LogFile?) {
    self.format = format
    self.file = file
    logLevel = level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let details = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
    let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    Output.log(
      Self.line(
        format,
        time: time,
        event.level,
        "\(event.message)",
        details.map { ($0.key, $0.value) }
      ),
      to: file
    )
  }

  /// The line of a message, without its end.
  static func line(
    _ format: LogFormat,
    time: String,
    _ level: Logger.Level,
    _ message: String,
    _ details: [(key: String, value: Logger.Metadata.Value)]
  ) -> String {
    switch format {
    case .json:
      let members = [("time", time), ("level", level.rawValue), ("message", message)].map {
        JSONMember($0.0, .string($0.1))
      }
      return JSONValue.object(members + details.map { JSONMember($0.key, json($0.value)) }).text
    case .text:
      let pairs = details.map { " \($0.key)=\(text($0.value))" }.joined()
      return "\(time) \(level.rawValue) \(message)\(pairs)"
    }
  }

  private static func json(_ value: Logger.Metadata.Value) -> JSONValue {
    switch value {
    case .string(let text): .string(text)
    case .stringConvertible(let value as LoggedJSON): value.json
    case .stringConvertible(let value): .string(value.description)
    case .array(let values): .array(values.map(json))
    case .dictionary(let values):
      .object(values.sorted { $0.key < $1.key }.map { JSONMember($0.key, json($0.value)) })
    }
  }

  private static func text(_ value: Logger.Metadata.Value) -> String {
    switch value {
    case .string(let text) where text.contains(where: \.isWhitespace): JSONValue.string(text).text
    case .string(let text): text
    case .stringConvertible, .array, .dictionary: json(value).text
    }
  }
}
