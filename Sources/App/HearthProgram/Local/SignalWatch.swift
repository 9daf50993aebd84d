import Dispatch
import Foundation

/// Calls a block when the process gets a signal, in place of what the signal would do.
package final class SignalWatch {
  private let sources: [any DispatchSourceSignal]

  /// Takes signals over.
  package init(_ numbers: Int32..., block: @escaping @Sendable () -> Void) {
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: block)
      source.resume()
      return source
    }
  }

  /// Stops listening.
  package func cancel() {
    for source in sources { source.cancel() }
  }
}
