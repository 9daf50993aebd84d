import Logging
import NIOConcurrencyHelpers
import SQLiteStorage

extension StoreOptions {
  /// The rows of a database from which reading it takes so long that the log tells of it.
  private static let manyRows = 100_000
  /// About how many rows are read in a second.
  private static let rowsPerSecond = 2_000_000.0

  /// Options of stores that tell a log how long reading takes, and what fails in the background.
  static func logging(to logger: Logger) -> StoreOptions {
    var options = StoreOptions()
    let begun = NIOLockedValueBox((at: ContinuousClock.now, level: Logger.Level.info))
    options.report = { event in
      switch event {
      case .loading(let rows):
        let level: Logger.Level = rows < manyRows ? .info : .notice
        begun.withLockedValue { $0 = (.now, level) }
        let seconds = (Double(rows) / rowsPerSecond * 10).rounded(.up) / 10
        logger.log(
          level: level,
          "reading the database takes about \(seconds) seconds",
          metadata: ["rows": "\(rows)"]
        )
      case .loaded(let revision):
        let (start, level) = begun.withLockedValue { $0 }
        let time = ContinuousClock.now - start
        logger.log(
          level: level,
          "the database is read",
          metadata: ["commit": "\(revision)", "time": "\(time)"]
        )
      case .foldFailed(let error):
        logger.warning("the log of commits grows, as it cannot be folded: \(error)")
      }
    }
    return options
  }
}
