import Dispatch
import Foundation

/// Calls a block when the process is asked to end, instead of ending it.
final class StopSignals {
  private let sources: [any DispatchSourceSignal]

  /// Takes SIGTERM and SIGINT over.
  init(_ block: @escaping @Sendable () -> Void) {
    sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: block)
      source.resume()
      return source
    }
  }

  /// Stops listening.
  func cancel() {
    for source in sources { source.cancel() }
  }
}
