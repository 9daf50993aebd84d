import Logging
import NIOConcurrencyHelpers

/// Keeps every message with all of its metadata.
struct CollectingLog: LogHandler {
  let lines: NIOLockedValueBox<[String]>
  var logLevel = Logger.Level.trace
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    lines.withLockedValue { $0.append("\(event.level) \(event.message) \(all)") }
  }
}

extension Logger {
  static func collecting(_ lines: NIOLockedValueBox<[String]>) -> Logger {
    Logger(label: "test") { _ in CollectingLog(lines: lines) }
  }
}
