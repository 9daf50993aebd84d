import Foundation
import HearthLab
import NIOCore
import RealtimeCore

/// How connections reach a server.
enum LoadTransport: String, CaseIterable {
  case tcp
  case unix

  /// The address of a server that listens at a port and at a Unix socket.
  func address(port: Int, socket: String) throws -> SocketAddress {
    switch self {
    case .tcp: try SocketAddress(ipAddress: "127.0.0.1", port: port)
    case .unix: try SocketAddress(unixDomainSocketPath: socket)
    }
  }
}

/// `hearth serve` in its own process, at a port of its own choice.
final class HearthProcess {
  private let sockets: TemporaryFolder
  private let program: RunningProgram
  let port: Int

  init(
    in environment: BenchmarkEnvironment,
    arguments: (_ folder: String) throws -> [String]
  ) throws {
    let folder = try TemporaryFolder(in: environment.folder)
    // The path of a socket must be short.
    sockets = try TemporaryFolder(in: "/tmp")
    var announced: Int?
    program = try RunningProgram(
      environment.hearth,
      arguments: ["serve", "--port", "0", "--socket", "\(sockets.path)/socket"]
        + arguments(folder.path),
      in: folder
    ) { line in
      announced = (try? JSONParser.parse(line))?["port"]?.integer.map(Int.init)
      return announced != nil
    }
    guard let announced else { throw LoadError("hearth serve has announced no port") }
    port = announced
  }

  var id: pid_t { program.id }

  func target(_ transport: LoadTransport = .tcp) throws -> LoadTarget {
    let address = try transport.address(port: port, socket: "\(sockets.path)/socket")
    return LoadTarget(address: address, dialect: .webSocket)
  }
}

/// A database server in its own process, with the blog's rules, posts and an index.
final class HearthServer {
  static let posts = 10_000
  /// The number of posts per user, which are consecutive.
  static let postsPerUser = 64

  private let process: HearthProcess

  /// Starts a server, fills it, and verifies that its rules are in force.
  init(in environment: BenchmarkEnvironment) throws {
    process = try HearthProcess(in: environment) { folder in
      [
        "--emulator", "--data-dir", folder, "--rules", environment.rules,
        // One process stands for many users who are busier than people.
        "--limit", "connections=20000", "--limit", "connections-per-address=20000",
        "--limit", "writes-per-second=1000000",
        "--limit", "write-burst=1000000",
      ]
    }
    try fill()
  }

  var memory: Int { ResidentMemory.bytes(of: process.id) }

  func target(_ transport: LoadTransport) throws -> LoadTarget { try process.target(transport) }

  /// The name of a user, who wrote the posts from ``firstPost(of:)`` on.
  static func name(_ user: Int) -> String { "u\(user)" }

  /// The number of a user's first post.
  static func firstPost(of user: Int) -> Int { user * postsPerUser }

  /// The first exchanges of a connection, which sign in its user.
  static func opening(as user: Int) -> [Exchange] {
    [Exchange(BlogWire.upgrade), Exchange(BlogWire.signIn(as: name(user)))]
  }

  private func fill() throws {
    let users = 0...(Self.posts / Self.postsPerUser)
    let puts = try users.map { user in
      let first = Self.firstPost(of: user)
      let posts = first..<min(first + Self.postsPerUser, Self.posts)
      var puts = ByteBuffer()
      for post in posts {
        puts.writeImmutableBuffer(
          try BlogWire.put(post, by: Self.name(user), isStarred: false)
        )
      }
      return Exchange(puts, answers: posts.count)
    }
    let owner =
      [Exchange(BlogWire.upgrade), Exchange(BlogWire.signInAsOwner)] + puts
      + [Exchange(BlogWire.query)]
    let others = try BlogWire.put(0, by: Self.name(0), isStarred: true)
    let stranger = Self.opening(as: 1) + [Exchange(others, isForbidden: true)]
    _ = try target(.tcp).connect([owner, stranger])
  }
}

/// Redis in its own process, which answers a write when it is durable.
final class RedisServer {
  private let sockets: TemporaryFolder
  private let program: RunningProgram
  private let port: Int

  init(in environment: BenchmarkEnvironment) throws {
    let path = try BenchmarkEnvironment.program("redis-server")
    let folder = try TemporaryFolder(in: environment.folder)
    sockets = try TemporaryFolder(in: "/tmp")
    port = try PostgresServer.freePort()
    program = try RunningProgram(
      path,
      arguments: [
        "--port", "\(port)", "--bind", "127.0.0.1", "--unixsocket", "\(sockets.path)/socket",
        "--dir", folder.path, "--appendonly", "yes", "--appendfsync", "always", "--save", "",
        "--auto-aof-rewrite-percentage", "0", "--maxclients", "15000",
      ],
      in: folder
    ) { $0.contains("ready to accept connections at") }
  }

  var memory: Int { ResidentMemory.bytes(of: program.id) }

  func target(_ transport: LoadTransport) throws -> LoadTarget {
    let address = try transport.address(port: port, socket: "\(sockets.path)/socket")
    return LoadTarget(address: address, dialect: .redis)
  }
}

/// etcd in its own process, which also answers a write when it is durable.
final class EtcdServer {
  private let program: RunningProgram
  let target: LoadTarget

  init(in environment: BenchmarkEnvironment) throws {
    let path = try BenchmarkEnvironment.program("etcd")
    let folder = try TemporaryFolder(in: environment.folder)
    let port = try PostgresServer.freePort()
    let url = "http://127.0.0.1:\(port)"
    let peers = "http://127.0.0.1:\(try PostgresServer.freePort())"
    target = LoadTarget(
      address: try SocketAddress(ipAddress: "127.0.0.1", port: port),
      dialect: .etcd
    )
    program = try RunningProgram(
      "/bin/sh",
      // It writes to stderr that it is ready.
      arguments: [
        "-c", "exec \"$@\" 2>&1", "sh", path, "--data-dir", "\(folder.path)/data",
        "--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", peers,
      ],
      in: folder
    ) { $0.contains("ready to serve client requests") }
  }
}
