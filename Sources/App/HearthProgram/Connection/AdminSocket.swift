import NIOPosix
import RealtimeTransport

/// The socket of the local server; whoever may open it is the server's administrator.
struct AdminSocket {
  private let path: String
  private let timeout: Duration

  init(_ paths: ProgramPaths, timeout: Duration) {
    path = paths.socket
    self.timeout = timeout
  }

  /// Sends a request.
  ///
  /// - Returns: The answer, also if it is a refusal.
  /// - Throws: ``CommandFailure`` if the server cannot be reached.
  func answer(
    to method: String,
    _ target: String,
    _ body: [UInt8],
    contentType: String? = nil
  ) async throws(CommandFailure) -> (status: Int, body: [UInt8]) {
    let client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: .system,
      timeout: timeout
    )
    let type = contentType.map { HTTPAnswer.HeaderLine("Content-Type", $0) }
    let request = HTTPClientRequest(
      method,
      to: ConnectionTarget(unixSocket: path),
      path: target,
      headerLines: [type].compactMap(\.self),
      body: body
    )
    do throws(HTTPClientError) {
      let answer = try await client.send(request)
      return (answer.status, answer.body)
    } catch {
      throw CommandFailure(.offline, description: error.description)
    }
  }
}
