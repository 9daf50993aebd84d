import NIOCore
import NIOPosix

/// Redis in a process of its own, with every write on the disk before it is answered.
final class RedisServer {
  private let folder: TemporaryFolder
  private let sockets: TemporaryFolder
  private let program: RunningProgram
  private let port: Int

  /// Starts it.
  ///
  /// - Throws: ``MissingTool`` when it is not installed.
  init(in place: Place) throws {
    let path = try Place.program("redis-server")
    folder = try TemporaryFolder(in: place.folder)
    sockets = try TemporaryFolder(in: "/tmp")
    port = try Self.freePort()
    program = try RunningProgram(
      path,
      [
        "--port", "\(port)", "--bind", "127.0.0.1", "--unixsocket", "\(sockets.path)/socket",
        "--dir", folder.path, "--appendonly", "yes", "--appendfsync", "always", "--save", "",
        "--auto-aof-rewrite-percentage", "0", "--maxclients", "15000",
      ],
      in: folder
    ) { $0.contains("ready to accept connections at") }
  }

  /// The memory of the process in bytes.
  var memory: Int { ResidentMemory.bytes(of: "\(program.id)") }

  /// Where connections go.
  func target(_ transport: HearthServer.Transport) throws -> LoadTarget {
    let address =
      switch transport {
      case .tcp: try SocketAddress(ipAddress: "127.0.0.1", port: port)
      case .unix: try SocketAddress(unixDomainSocketPath: "\(sockets.path)/socket")
      }
    return LoadTarget(address: address, dialect: .redis)
  }

  /// A port that nothing listens at; Redis cannot choose one itself.
  private static func freePort() throws -> Int {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { group.shutdownGracefully { _ in } }
    let probe = try ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).wait()
    defer { probe.close(promise: nil) }
    guard let port = probe.localAddress?.port else { throw LoadError("there is no free port") }
    return port
  }
}
