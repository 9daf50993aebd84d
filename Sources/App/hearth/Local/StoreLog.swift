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
    // Several may be read at once, each from a thread of its own.
    let begun = NIOLockedValueBox<[String: (at: ContinuousClock.Instant, level: Logger.Level)]>([:])
    options.report = { event in
      switch event {
      case .loading(let directory, let rows):
        let level: Logger.Level = rows < manyRows ? .info : .notice
        begun.withLockedValue { $0[directory] = (.now, level) }
        let seconds = (Double(rows) / rowsPerSecond * 10).rounded(.up) / 10
        logger.log(
          level: level,
          "reading the database takes about \(seconds) seconds",
          metadata: ["directory": "\(directory)", "rows": "\(rows)"]
        )
      case .loaded(let directory, let revision):
        let start = begun.withLockedValue { $0.removeValue(forKey: directory) }
        guard let start else { return }
        logger.log(
          level: start.level,
          "the database is read",
          metadata: [
            "directory": "\(directory)", "commit": "\(revision)",
            "time": "\(ContinuousClock.now - start.at)",
          ]
        )
      case .foldFailed(let error):
        logger.warning("the log of commits grows, as it cannot be folded: \(error)")
      case .madePrivate(let directory):
        logger.warning(
          "others could enter the data directory; now only its owner can",
          metadata: ["directory": "\(directory)"]
        )
      case .markFailed(let error):
        logger.warning("what is missing after a crash might not be noticed: \(error)")
      }
    }
    return options
  }
}
