import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeDatabase
import TLSTestSupport
import TestSupport

@testable import RealtimeTransport

/// Stands in for the hosted service under its own names, and sends what is documented, byte for
/// byte.
///
/// All hosts share one listener, to which `detours` directs their clients.
final class StandIn: Sendable {
  static let databaseHosts = [
    "my-ns.firebaseio.com", "s-usc1c-nss-201.firebaseio.com", "s-usc1c-nss-202.firebaseio.com",
    "db1.europe-west1.firebasedatabase.app",
    "s-gke-euw1-nssi3-3.europe-west1.firebasedatabase.app",
  ]
  static let identityHosts = ["identitytoolkit.googleapis.com", "securetoken.googleapis.com"]

  /// The host, the method and the target of each request, and its body if it has one.
  let requests: AsyncStream<String>
  /// The host and the text of each message from a client.
  let messages: AsyncStream<String>
  let certificates: Certificates
  private let listener: ServerListener
  private let connections: NIOLockedValueBox<[ServerConnection]>

  /// Starts listening.
  ///
  /// - Parameters:
  ///   - greeting: The first messages of a host, or nil when it accepts no connection.
  ///   - answer: A host's response to a plain request.
  /// - Throws: The system's error when no port is free.
  init(
    greeting: @escaping @Sendable (_ host: String) -> [String]? = { _ in nil },
    answer: @escaping @Sendable (_ host: String, _ path: String) -> HTTPAnswer = { _, _ in
      HTTPAnswer(status: 404, error: "there is nothing here")
    }
  ) async throws {
    let certificates = try Certificates()
    let issued = try certificates.authority.issue(
      names: ["*.firebaseio.com", "*.europe-west1.firebasedatabase.app", "*.googleapis.com"],
      addresses: []
    )
    let (requests, request) = AsyncStream.makeStream(of: String.self)
    let (messages, message) = AsyncStream.makeStream(of: String.self)
    let connections = NIOLockedValueBox<[ServerConnection]>([])
    self.certificates = certificates
    self.requests = requests
    self.messages = messages
    self.connections = connections
    let handlers = ServerHandlers(
      admit: { asked, loop in
        let host = asked.header("Host") ?? ""
        request.yield("\(host) \(Self.target(of: asked))")
        let refusal = HTTPAnswer(status: 503, error: "try again later")
        return loop.makeSucceededFuture(greeting(host) == nil ? refusal : nil)
      },
      answer: { asked, loop in
        let host = asked.header("Host") ?? ""
        let body = String(decoding: asked.body, as: UTF8.self)
        request.yield("\(host) \(asked.method) \(Self.target(of: asked)) \(body)")
        return loop.makeSucceededFuture(.answer(answer(host, asked.path)))
      },
      accept: { connection in
        let host = connection.request?.header("Host") ?? ""
        connections.withLockedValue { $0.append(connection) }
        for text in greeting(host) ?? [] { connection.send(EncodedMessage(Array(text.utf8))) }
        return ServerHandlers.Callbacks(
          onMessage: { bytes in
            message.yield("\(host) \(String(decoding: bytes, as: UTF8.self))")
            guard case .request(let id, _)? = try? ClientMessage(decoding: bytes) else { return }
            let answer = #"{"t":"d","d":{"r":\#(id),"b":{"s":"ok","d":""}}}"#
            connection.send(EncodedMessage(Array(answer.utf8)))
          },
          onClose: { _ in }
        )
      }
    )
    listener = try await ServerListener.listen(
      at: .tcp(host: "127.0.0.1", port: 0, isSecure: true),
      certificate: try certificates.certificate(issued),
      on: MultiThreadedEventLoopGroup.singleton.next(),
      policy: RequestPolicy(allowsAnyHost: true),
      handlers: handlers
    ).get()
    afterTest { try? await self.listener.close().get() }
  }

  /// The actual endpoints of the service's hosts.
  var detours: [String: ConnectionTarget.Endpoint] {
    let place = ConnectionTarget.Endpoint.tcp(host: "127.0.0.1", port: listener.port)
    return Dictionary(
      uniqueKeysWithValues: (Self.databaseHosts + Self.identityHosts).map { ($0, place) }
    )
  }

  /// The options of a database whose connections lead here.
  var options: DatabaseOptions {
    var options = DatabaseOptions()
    options.trustRoots = .file(certificates.path)
    options.detours = detours
    options.maximumReconnectDelay = .milliseconds(100)
    return options
  }

  /// Sends a message on the newest connection.
  func say(_ text: String) {
    guard let connection = connections.withLockedValue({ $0.last }) else { return }
    connection.eventLoop.execute { connection.send(EncodedMessage(Array(text.utf8))) }
  }

  /// Ends the newest connection.
  func hangUp() {
    guard let connection = connections.withLockedValue({ $0.last }) else { return }
    connection.eventLoop.execute { connection.close(code: 1_001, reason: "the host goes away") }
  }

  /// The greeting as observed, with a host and a session.
  static func hello(_ host: String, session: String = "uVWN") -> String {
    #"{"t":"c","d":{"t":"h","d":{"ts":1759691083390,"v":"5","h":"\#(host)","s":"\#(session)"}}}"#
  }

  /// The request to connect to another host.
  static func reset(to host: String) -> String { #"{"t":"c","d":{"t":"r","d":"\#(host)"}}"# }

  private static func target(of request: HTTPRequest) -> String {
    let parameters = request.parameters.map { "\($0.name)=\($0.value)" }
    return request.path + (parameters.isEmpty ? "" : "?\(parameters.joined(separator: "&"))")
  }
}
