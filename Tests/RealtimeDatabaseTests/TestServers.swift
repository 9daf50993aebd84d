import Dispatch
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeDatabase
import RealtimeTransport
import TestSupport

/// A server that follows a test's script, records requests and ends with the test.
final class ScriptedServer: Sendable {
  /// The messages sent in response to a request, in order; nil ends the connection.
  typealias Script = @Sendable (Int64, ClientRequest) -> [ServerMessage]?

  let url: String
  /// The requests over all connections.
  let requests = Record<ClientRequest>()
  /// How connections have ended.
  let ends = Record<String>()
  private let directory: TemporaryDirectory
  private let listener: ServerListener

  /// Starts a server with a clock; without a script, it accepts every request.
  init(
    timestamp: Int64 = 0,
    _ script: @escaping Script = { id, _ in [accepted(id)] }
  ) async throws {
    let directory = try TemporaryDirectory()
    let (requests, ends) = (requests, ends)
    self.directory = directory
    url = "unix:\(directory.file("s"))?ns=script"
    let handlers = ServerHandlers { connection in
      let hello = ServerHello(timestamp: timestamp, host: "localhost", session: "s")
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
      on: MultiThreadedEventLoopGroup.singleton.next(),
      handlers: handlers
    ).get()
    afterTest { try? await self.listener.close().get() }
  }

  /// Starts a server that refuses every request, or accepts listens alone.
  static func refusing(listens: Bool = true) async throws -> ScriptedServer {
    try await ScriptedServer { id, request in
      if !listens, case .listen = request { return [accepted(id)] }
      return [refused(id, .permissionDenied)]
    }
  }

  func open(_ options: DatabaseOptions = DatabaseOptions()) throws -> Database {
    let database = try Database(url: url, options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    return database
  }

  /// Accepts a request.
  static func accepted(_ id: Int64) -> ServerMessage {
    .response(id: id, ServerMessage.Response(.ok, payload: .json(.object())))
  }

  /// Refuses a request.
  static func refused(_ id: Int64, _ status: StatusCode) -> ServerMessage {
    .response(id: id, ServerMessage.Response(status, payload: .json(.string("not for you"))))
  }
}

/// A Unix socket in front of another one, which records what the server sends, or swallows it.
final class Relay: Sendable {
  let path: String
  private let listener: Int32
  private let said = NIOLockedValueBox<[UInt8]>([])
  private let isDeaf = NIOLockedValueBox(false)

  /// Starts to relay between a new socket and one on which a server listens.
  init(_ path: String, to server: String) throws {
    self.path = path
    listener = try Self.socket(path) { bind($0, $1, $2) }
    guard listen(listener, 8) == 0 else { throw POSIXError(.EIO) }
    Thread.detachNewThread { [listener] in
      while case let client = accept(listener, nil, nil), client >= 0 {
        guard let upstream = try? Self.socket(server, { connect($0, $1, $2) }) else { return }
        Thread.detachNewThread { Self.copy(client, upstream) { _ in true } }
        Thread.detachNewThread {
          Self.copy(upstream, client) { bytes in
            self.said.withLockedValue { $0 += bytes }
            return !self.isDeaf.withLockedValue { $0 }
          }
        }
      }
    }
  }

  deinit { stop() }

  /// What the server has sent since the last call, including frame headers.
  func takeSaid() -> String {
    said.withLockedValue { bytes in
      defer { bytes = [] }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Sets whether the server's data is withheld from the client.
  func setDeaf(_ isOn: Bool) {
    isDeaf.withLockedValue { $0 = isOn }
  }

  /// Accepts no more connections.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func copy(_ from: Int32, _ to: Int32, _ isPassed: ([UInt8]) -> Bool) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(from, &buffer, buffer.count), count > 0 {
      let bytes = Array(buffer.prefix(count))
      if isPassed(bytes), send(to, bytes, count, Int32(MSG_NOSIGNAL)) != count { break }
    }
    shutdown(from, Int32(SHUT_RDWR))
    shutdown(to, Int32(SHUT_RDWR))
  }

  private static func socket(
    _ path: String,
    _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws -> Int32 {
    let descriptor = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard withUnixAddress(path, { use(descriptor, $0, $1) }) == 0 else { throw POSIXError(.EIO) }
    return descriptor
  }
}
