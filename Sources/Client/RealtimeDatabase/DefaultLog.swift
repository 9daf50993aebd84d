package import Logging
internal import NIOConcurrencyHelpers

/// What databases and accounts log to without a logger: standard error, once it is switched on.
package struct DefaultLog: LogHandler {
  static let isEnabled = NIOLockedValueBox(false)

  static var logger: Logger { logger("hearth.database") }

  /// A logger of this kind for a part of the library.
  package static func logger(_ label: String) -> Logger {
    Logger(label: label) { DefaultLog(output: .standardError(label: $0)) }
  }

  private var output: StreamLogHandler

  private init(output: StreamLogHandler) {
    self.output = output
    self.output.logLevel = .debug
  }

  /// The least severe level that is written.
  package var logLevel: Logger.Level {
    get { Self.isEnabled.withLockedValue { $0 } ? output.logLevel : .critical }
    set { output.logLevel = newValue }
  }

  /// What is added to each line.
  package var metadata: Logger.Metadata {
    get { output.metadata }
    set { output.metadata = newValue }
  }

  /// A value that is added to each line.
  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { output[metadataKey: key] }
    set { output[metadataKey: key] = newValue }
  }

  /// Writes a line.
  package func log(event: LogEvent) {
    output.log(event: event)
  }
}
