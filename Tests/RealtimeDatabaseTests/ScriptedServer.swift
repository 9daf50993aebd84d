import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeDatabase
import RealtimeTransport
import TestSupport

/// A server that says what a test has it say, and keeps what it was asked.
final class ScriptedServer: Sendable {
  /// What is said when a request comes, in order; nil ends the connection.
  typealias Script = @Sendable (Int64, ClientRequest) -> [ServerMessage]?

  let url: String
  /// What was asked, over all connections.
  let requests = Record<ClientRequest>()
  /// How connections have ended.
  let ends = Record<String>()
  private let connections = NIOLockedValueBox<[ServerConnection]>([])
  private let directory: TemporaryDirectory
  private let listener: ServerListener
  /// Where the listener and all of its connections live.
  private let eventLoop: any EventLoop

  init(_ script: @escaping Script) async throws {
    let directory = try TemporaryDirectory()
    let (requests, ends, connections) = (requests, ends, connections)
    self.directory = directory
    eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    url = "unix:\(directory.file("s"))?ns=script"
    let handlers = ServerHandlers { connection in
      connections.withLockedValue { $0.append(connection) }
      let hello = ServerHello(timestamp: 0, host: "localhost", session: "s")
      connection.send(EncodedMessage(ServerMessage.hello(hello).encoded()))
      return ServerHandlers.Callbacks { bytes in
        guard case .request(let id, let request)? = try? ClientMessage(decoding: bytes)
        else { return }
        requests.append(request)
        guard let answers = script(id, request) else {
          return connection.close(code: 1_011, reason: "")
        }
        for answer in answers { connection.send(EncodedMessage(answer.encoded())) }
      } onClose: { end in
        ends.append(end.description)
      }
    }
    listener = try await ServerListener.listen(
      at: .unix(path: directory.file("s")),
      on: eventLoop,
      handlers: handlers
    ).get()
  }

  /// Says something to the newest connection, unasked.
  func say(_ message: ServerMessage) {
    let connection = connections.withLockedValue { $0.last }
    eventLoop.execute { connection?.send(EncodedMessage(message.encoded())) }
  }

  /// Opens a database there.
  func open(_ options: DatabaseOptions = DatabaseOptions()) throws -> Database {
    let database = try Database(url: url, options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    return database
  }

  func stop() async throws {
    try await listener.close().get()
  }

  /// Accepts a request.
  static func accepted(_ id: Int64) -> ServerMessage {
    .response(id: id, ServerMessage.Response(.ok, .json(.object())))
  }

  /// Refuses a request.
  static func refused(_ id: Int64, _ status: StatusCode) -> ServerMessage {
    .response(id: id, ServerMessage.Response(status, .json(.string("not for you"))))
  }
}
