import NIOConcurrencyHelpers

/// Tells the first wish to stop from those that follow.
final class StopCount: Sendable {
  private let count = NIOLockedValueBox(0)

  /// Whether this is not the first call.
  func isRepeated() -> Bool {
    count.withLockedValue { count in
      count += 1
      return count > 1
    }
  }
}
