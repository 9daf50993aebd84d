internal import NIOConcurrencyHelpers
internal import RealtimeDatabase

/// Settings of all apps.
public final class FirebaseConfiguration: Sendable {
  /// The settings of this process.
  public static let shared = FirebaseConfiguration()

  private let level = NIOLockedValueBox(FirebaseLoggerLevel.notice)

  private init() {}

  /// Writes messages of databases and accounts to standard error, if they are this severe or more.
  ///
  /// Nothing is written before the first call.
  public func setLoggerLevel(_ loggerLevel: FirebaseLoggerLevel) {
    level.withLockedValue { $0 = loggerLevel }
    DefaultLog.setThreshold("\(loggerLevel)")
  }

  /// The level that was set last.
  public func loggerLevel() -> FirebaseLoggerLevel { level.withLockedValue { $0 } }
}

/// How severe a message is, with the original's numbers.
public enum FirebaseLoggerLevel: Int, Hashable, Sendable {
  /// Something failed.
  case error = 3
  /// Something may be wrong.
  case warning = 4
  /// Something that is worth noting.
  case notice = 5
  /// Something that may be of interest.
  case info = 6
  /// Something for whoever looks for a mistake.
  case debug = 7

  /// The level with the fewest messages.
  public static let min = FirebaseLoggerLevel.error
  /// The level with the most messages.
  public static let max = FirebaseLoggerLevel.debug
}
