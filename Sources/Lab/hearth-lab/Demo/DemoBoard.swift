import NIOConcurrencyHelpers

/// What a demonstration has measured: filled by several threads, shown by one.
final class DemoBoard: Sendable {
  private let figures = NIOLockedValueBox(DemoFigures())

  /// Reads or changes the figures.
  @discardableResult
  func with<Result>(_ body: (inout DemoFigures) -> Result) -> Result {
    figures.withLockedValue { body(&$0) }
  }

  /// The figures now.
  var now: DemoFigures { figures.withLockedValue { $0 } }
}
