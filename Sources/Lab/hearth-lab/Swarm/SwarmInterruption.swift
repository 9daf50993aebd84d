import Foundation
import HearthProgram
import NIOConcurrencyHelpers

/// Ends a run when the person at the terminal or the system wants that, after it has been cleared up.
final class SwarmInterruption: Sendable {
  private let ending = NIOLockedValueBox<Task<Void, Never>?>(nil)
  private let clearUp: @Sendable () async -> Void

  /// Describes an end.
  ///
  /// - Parameter clearUp: What is done before the process ends.
  init(_ clearUp: @escaping @Sendable () async -> Void) {
    self.clearUp = clearUp
  }

  /// Begins to wait for a signal; a second one ends the process at once.
  func watch() -> SignalWatch {
    SignalWatch(SIGINT, SIGTERM, SIGHUP) {
      let isFirst = self.ending.withLockedValue { ending in
        guard ending == nil else { return false }
        ending = Task {
          await self.clearUp()
          _exit(Self.status)
        }
        return true
      }
      if isFirst { Output.message("clearing up") } else { _exit(Self.status) }
    }
  }

  /// Waits for the end of the process if it has been asked for.
  func finishIfBegun() async {
    await ending.withLockedValue(\.self)?.value
  }

  /// What a shell says of a program that was interrupted.
  private static let status: Int32 = 128 + SIGINT
}
