internal import Foundation
internal import RealtimeTransport

/// The rules that a program must keep when it calls this library.
package enum CallerContract {
  /// Ends the process if the program broke a rule.
  package static func require(_ isKept: Bool, _ reason: @autoclosure () -> String) {
    if !isKept { fail(reason()) }
  }

  /// Ends the process unless a host and a port can be those of a server.
  package static func requireServer(at host: String, port: Int) {
    require((1...65_535).contains(port), "\(port) is not a port")
    require(
      ConnectionTarget.isHost(host),
      "\"\(host)\" is not a host; name it without a scheme, a port or brackets"
    )
  }

  /// Ends the process because the program broke a rule, and says which.
  ///
  /// Unlike `preconditionFailure`, it says so in optimized builds as well.
  package static func fail(_ reason: String) -> Never {
    try? FileHandle.standardError.write(contentsOf: Data("Fatal error: \(reason)\n".utf8))
    abort()
  }
}
