import NIOCore
import RealtimeCore

/// A database server in a process of its own, with the blog's rules, posts and an index.
final class HearthServer {
  /// How connections reach a server.
  enum Transport: String, CaseIterable {
    case tcp
    case unix
  }

  /// How many posts there are.
  static let posts = 10_000
  /// How many posts one user has, one after the other.
  static let postsPerUser = 64

  private let folder: TemporaryFolder
  private let sockets: TemporaryFolder
  private let program: RunningProgram
  private let port: Int

  /// Starts a server, fills it, and makes sure that its rules are in force.
  init(in place: Place, _ generator: LoadGenerator) throws {
    folder = try TemporaryFolder(in: place.folder)
    // The path of a socket must be short.
    sockets = try TemporaryFolder(in: "/tmp")
    var announced: Int?
    program = try RunningProgram(
      place.hearth,
      [
        "serve", "--emulator", "--port", "0", "--socket", "\(sockets.path)/socket",
        "--data-dir", folder.path, "--rules", place.rules,
        // One process stands for many users, more diligent than people.
        "--limit", "connections=20000", "--limit", "writes-per-second=1000000",
        "--limit", "write-burst=1000000",
      ],
      in: folder
    ) { line in
      announced = (try? JSONParser.parse(line))?["port"]?.integer.map(Int.init)
      return announced != nil
    }
    guard let announced else { throw LoadError("hearth serve has announced no port") }
    port = announced
    try fill(generator)
  }

  /// The memory of the process in bytes.
  var memory: Int { ResidentMemory.bytes(of: "\(program.id)") }

  /// Where connections go.
  func target(_ transport: Transport) throws -> LoadTarget {
    let address =
      switch transport {
      case .tcp: try SocketAddress(ipAddress: "127.0.0.1", port: port)
      case .unix: try SocketAddress(unixDomainSocketPath: "\(sockets.path)/socket")
      }
    return LoadTarget(address: address, dialect: .webSocket)
  }

  /// The name of a user, who has written the posts from ``firstPost(of:)`` on.
  static func name(_ user: Int) -> String { "u\(user)" }

  /// The first of the posts of a user.
  static func firstPost(of user: Int) -> Int { user * postsPerUser }

  /// What a connection says at first: who its user is.
  static func opening(as user: Int) -> [Exchange] {
    [Exchange(BlogWire.upgrade), Exchange(BlogWire.signIn(as: name(user)))]
  }

  private func fill(_ generator: LoadGenerator) throws {
    var puts = ByteBuffer()
    for number in 0..<Self.posts {
      let user = Self.name(number / Self.postsPerUser)
      var put = try BlogWire.put(number, by: user, isStarred: false)
      puts.writeBuffer(&put)
    }
    let owner = [
      Exchange(BlogWire.upgrade), Exchange(BlogWire.signInAsOwner),
      Exchange(puts, answers: Self.posts), Exchange(BlogWire.query),
    ]
    let others = try BlogWire.put(0, by: Self.name(0), isStarred: true)
    let stranger = Self.opening(as: 1) + [Exchange(others, isForbidden: true)]
    for opening in [owner, stranger] {
      try generator.close(try generator.connect(to: try target(.tcp), [opening]))
    }
  }
}
