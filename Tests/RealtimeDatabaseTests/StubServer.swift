import Dispatch
import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeDatabase
import RealtimeTransport
import TestSupport

/// A server without data, which tells when connections end.
final class StubServer: Sendable {
  enum Manner {
    case accepts
    case refuses
    case refusesWrites
    case isSilent
  }

  let url: String
  /// How connections have ended.
  let ends: Record<String>
  private let directory: TemporaryDirectory
  private let listener: ServerListener

  init(_ manner: Manner) async throws {
    let directory = try TemporaryDirectory()
    let ends = Record<String>()
    self.directory = directory
    self.ends = ends
    url = "unix:\(directory.file("s"))?ns=stub"
    let handlers = ServerHandlers { connection in
      let hello = ServerHello(timestamp: 0, host: "localhost", session: "s")
      connection.send(EncodedMessage(ServerMessage.hello(hello).encoded()))
      return ServerHandlers.Callbacks { bytes in
        guard case .request(let id, let request)? = try? ClientMessage(decoding: bytes)
        else { return }
        var answer = ServerMessage.Response(.permissionDenied, .json(.string("not for you")))
        switch manner {
        case .refuses: break
        case .accepts: answer = ServerMessage.Response(.ok, .json(.object()))
        case .isSilent: return
        case .refusesWrites:
          if case .listen = request { answer = ServerMessage.Response(.ok, .json(.object())) }
        }
        connection.send(EncodedMessage(ServerMessage.response(id: id, answer).encoded()))
      } onClose: { end in
        ends.append(end.description)
      }
    }
    listener = try await ServerListener.listen(
      at: .unix(path: directory.file("s")),
      on: MultiThreadedEventLoopGroup.singleton.next(),
      handlers: handlers
    ).get()
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
}
