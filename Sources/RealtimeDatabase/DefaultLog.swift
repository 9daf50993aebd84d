internal import Logging
internal import NIOConcurrencyHelpers

/// What databases log to that were given no logger: standard error, once it is switched on.
struct DefaultLog: LogHandler {
  static let isEnabled = NIOLockedValueBox(false)

  static var logger: Logger {
    Logger(label: "hearth.database") { DefaultLog(output: .standardError(label: $0)) }
  }

  private var output: StreamLogHandler

  private init(output: StreamLogHandler) {
    self.output = output
    self.output.logLevel = .debug
  }

  var logLevel: Logger.Level {
    get { Self.isEnabled.withLockedValue { $0 } ? output.logLevel : .critical }
    set { output.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { output.metadata }
    set { output.metadata = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { output[metadataKey: key] }
    set { output[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    output.log(event: event)
  }
}
