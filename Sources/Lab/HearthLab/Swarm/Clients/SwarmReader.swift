private import NIOPosix
import RealtimeCore
import RealtimeDatabase
import RealtimeTransport

/// Reads as a user at each of several servers, past the client library and the load balancer.
struct SwarmReader: Sendable {
  struct Way: Sendable {
    /// The name of the server, and of the way, in histories.
    let name: String
    fileprivate let target: ConnectionTarget
    /// Whether the value is the first event of a stream, rather than the answer to a request.
    fileprivate let isStream: Bool
  }

  /// How long an answer may take: longer than a server holds a read until it knows the next leader.
  private static let timeout = Duration.seconds(30)

  /// Every way at every server.
  let ways: [Way]
  private let tokens: any DatabaseTokenProvider
  private let client: HTTPClient

  /// Creates a reader; nil without servers or without an account.
  init?(at hosts: [String], by tokens: (any DatabaseTokenProvider)?) {
    guard !hosts.isEmpty, let tokens else { return nil }
    self.tokens = tokens
    client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: .system,
      timeout: Self.timeout
    )
    ways = [false, true].flatMap { isStream in
      hosts.enumerated().compactMap { number, host in
        guard let target = try? DatabaseURL("http://\(host)?ns=hearth").target else { return nil }
        let name = "server\(number)" + (isStream ? " by a stream" : "")
        return Way(name: name, target: target, isStream: isStream)
      }
    }
  }

  /// Reads a path; the outcome is unknown when the server does not answer.
  func read(_ path: Path, by way: Way) async -> Outcome {
    do {
      guard let token = try await tokens.token(forcingRefresh: false)?.text else {
        return .unknown("signed out")
      }
      let request = HTTPClientRequest(
        "GET",
        to: way.target,
        path: "\(path).json?ns=hearth&auth=\(token)"
      )
      if way.isStream {
        for try await event in client.events(of: request) where event.name == "put" {
          return .ok(try JSONParser.parse(event.data)["data"])
        }
        return .unknown("the stream has ended")
      }
      let answer = try await client.send(request)
      guard answer.status == 200 else { return .unknown("status \(answer.status)") }
      return .ok(try JSONParser.parse(String(decoding: answer.body, as: UTF8.self)))
    } catch {
      return .unknown("\(error)")
    }
  }
}
