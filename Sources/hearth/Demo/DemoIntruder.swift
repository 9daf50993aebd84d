import Foundation
import NIOConcurrencyHelpers
import NIOPosix
import RealtimeTransport

/// Somebody who comes in by the port, not signed in.
struct DemoIntruder: Sendable {
  /// The port.
  let port: Int

  /// Tries to put a value somewhere, and returns the status of the answer; 0 if there is none.
  func put(_ value: String, at path: String) -> Int {
    let client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: .system,
      timeout: .seconds(5)
    )
    let request = HTTPClientRequest(
      "PUT",
      to: ConnectionTarget(host: "127.0.0.1", port: port),
      path: "\(path).json?ns=hearth",
      body: Array(value.utf8)
    )
    let status = NIOLockedValueBox(0)
    let answer = DispatchSemaphore(value: 0)
    Task {
      if let reply = try? await client.send(request) {
        status.withLockedValue { $0 = reply.status }
      }
      answer.signal()
    }
    answer.wait()
    return status.withLockedValue { $0 }
  }
}
