import Logging
import NIOConcurrencyHelpers
import SQLiteStorage

extension StoreOptions {
  /// Options of stores that tell a log how long reading takes, and what fails in the background.
  static func logging(to logger: Logger) -> StoreOptions {
    var options = StoreOptions()
    let begun = NIOLockedValueBox(ContinuousClock.now)
    options.report = { event in
      switch event {
      case .loading(let rows):
        begun.withLockedValue { $0 = .now }
        logger.info("reading the database", metadata: ["rows": "\(rows)"])
      case .loaded(let revision):
        let time = ContinuousClock.now - begun.withLockedValue { $0 }
        logger.info("the database is read", metadata: ["commit": "\(revision)", "time": "\(time)"])
      case .foldFailed(let error):
        logger.warning("the log of commits grows, as it cannot be folded: \(error)")
      }
    }
    return options
  }
}
