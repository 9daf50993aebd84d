public import ArgumentParser
public import Logging

/// Where a program that runs for long says what it does.
struct LogOptions: ParsableArguments {
  @Option(help: "What to log: trace, debug, info, notice, warning, error or critical.")
  var logLevel = Logger.Level.notice

  @Option(help: "Log as text, for people, or as json, an object a line.")
  var logFormat = LogFormat.text

  @Option(
    help: ArgumentHelp(
      "Begin a new log file after so many bytes; \(LogFile.keptFiles) old ones are kept.",
      valueName: "bytes"
    )
  )
  var logSize = LogFile.standardSize

  func validate() throws {
    guard logSize >= 1_000 else {
      throw ValidationError("--log-size is a number of bytes from 1000 on")
    }
  }

  /// A logger of that name that writes to the file, or to standard error without one.
  func logger(_ label: String, _ file: LogFile?) -> Logger {
    Logger(label: label) { [logFormat, logLevel] _ in
      LineLogHandler(format: logFormat, level: logLevel, file: file)
    }
  }
}

extension LogFormat: ExpressibleByArgument {}
extension Logger.Level: @retroactive ExpressibleByArgument {}
