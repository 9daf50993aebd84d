private import NIOPosix
package import RealtimeCore
package import RealtimeTransport

/// An existing database, and how to reach it.
package struct SwarmDatabase: Sendable {
  package let url: String
  /// The server and the database that the URL names.
  let target: ConnectionTarget
  /// The administrators' secret; nil at a local socket and at an emulator, which need none.
  package var administratorKey: String?
  /// The API key of its project, which the hosted service requires for signing in.
  package var apiKey: String?
  /// The file of trusted certificates, which replace those of the system.
  package var caFile: String?

  /// Describes the database at a URL.
  ///
  /// - Throws: `DatabaseURLError` for a URL that does not name a database.
  package init(_ url: String) throws(DatabaseURLError) {
    self.url = url
    target = try DatabaseURL(url).target
  }

  /// Whether users need accounts although the administrators' secret is unknown.
  package var wantsAccounts = false

  /// Whether users need accounts.
  package var hasAccounts: Bool { wantsAccounts || administratorKey != nil }

  /// Whether the database is at a local socket, where every client is an administrator.
  package var isAtSocket: Bool {
    if case .unix = target.endpoint { true } else { false }
  }

  package var isHosted: Bool { IdentityService(of: target) == .hosted }

  package var admin: AdminClient {
    AdminClient(target, key: administratorKey, trust: trust)
  }

  var trust: TrustRoots { caFile.map { .file($0) } ?? .system }
}

/// An administrator's client, which uses HTTP and bypasses both the rules and the client library.
package struct AdminClient: Sendable {
  private let target: ConnectionTarget
  /// Other servers of the same database, only one of which leads it.
  private let others: @Sendable () -> [ConnectionTarget]
  private let client: HTTPClient
  /// The administrator's credential, or nil where none is needed.
  private let token: String?

  /// The token by which an emulator recognizes an administrator.
  private static let emulatorToken = "owner"

  /// Creates a client of a server.
  ///
  /// - Parameters:
  ///   - target: Its address; every client of a Unix socket is an administrator.
  ///   - others: The addresses of all servers of the same database that answer at the moment, where
  ///     several share it. Only one leads the database; the most likely leader comes first.
  ///   - key: The administrators' secret, or nil for an emulator.
  ///   - trust: The certificates to trust.
  ///   - timeout: How long a response may take.
  package init(
    _ target: ConnectionTarget,
    orAnyOf others: @escaping @Sendable () -> [ConnectionTarget] = { [] },
    key: String? = nil,
    trust: TrustRoots = .system,
    timeout: Duration = .seconds(10)
  ) {
    self.target = target
    self.others = others
    if case .unix = target.endpoint { token = nil } else { token = key ?? Self.emulatorToken }
    client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: trust,
      timeout: timeout
    )
  }

  /// An observer of the whole database.
  var observer: StreamObserver {
    StreamObserver(client: client, target: target, token: token)
  }

  /// Whether the server accepts this client as an administrator.
  ///
  /// - Throws: ``SwarmProblem`` for any other answer, or a connection error.
  package func isOpen() async throws -> Bool {
    let answer = try await ask("GET", to: "/.settings/rules")
    if answer.status == 401 || answer.status == 403 { return false }
    _ = try Self.text(of: answer, to: "GET /.settings/rules")
    return true
  }

  /// Reads the value at a path.
  ///
  /// - Throws: ``SwarmProblem``, or a connection error.
  package func get(_ path: String) async throws -> JSONValue {
    try JSONParser.parse(try await send("GET", to: path))
  }

  /// The keys of the children at a path, without their values.
  func keys(of path: String) async throws -> [String] {
    let answer = try await ask("GET", to: path, parameter: "shallow=true")
    let json = try JSONParser.parse(try Self.text(of: answer, to: "GET \(path)"))
    return (json.members ?? []).map(\.name)
  }

  func put(_ value: JSONValue, at path: String) async throws {
    _ = try await send("PUT", to: path, body: Array(value.text.utf8))
  }

  /// Changes several paths at once.
  func patch(_ path: String, with changes: JSONValue) async throws {
    _ = try await send("PATCH", to: path, body: Array(changes.text.utf8))
  }

  /// The rules in force.
  ///
  /// - Throws: ``SwarmProblem``, or a connection error.
  package func rules() async throws -> String { try await send("GET", to: "/.settings/rules") }

  /// Puts rules in force.
  func setRules(_ source: String) async throws {
    _ = try await send("PUT", to: "/.settings/rules", body: Array(source.utf8))
  }

  private func send(
    _ method: String,
    to path: String,
    body: [UInt8] = []
  ) async throws -> String {
    try Self.text(of: try await ask(method, to: path, body: body), to: "\(method) \(path)")
  }

  private func ask(
    _ method: String,
    to path: String,
    body: [UInt8] = [],
    parameter: String? = nil
  ) async throws -> HTTPClientAnswer {
    let parameters = [parameter, target.namespace.map { "ns=\($0)" }].compactMap(\.self)
    let query = parameters.isEmpty ? "" : "?\(parameters.joined(separator: "&"))"
    func ask(_ target: ConnectionTarget) async throws -> HTTPClientAnswer {
      try await client.send(
        HTTPClientRequest(
          method,
          to: target,
          path: "\(path).json\(query)",
          headerLines: token.map { [HTTPAnswer.HeaderLine("Authorization", "Bearer \($0)")] } ?? [],
          body: body
        )
      )
    }
    for target in others() {
      // A server that does not lead the database says so.
      if let answer = try? await ask(target), answer.status != Self.leadsNothing { return answer }
    }
    return try await ask(target)
  }

  /// The status of a server's response at its socket when it does not lead the database.
  private static let leadsNothing = 503

  private static func text(of answer: HTTPClientAnswer, to request: String) throws -> String {
    let text = String(decoding: answer.body, as: UTF8.self)
    guard (200..<300).contains(answer.status) else {
      throw SwarmProblem("\(request): \(answer.status) \(text)")
    }
    return text
  }
}

/// Removes what some users have written in a blog, as an administrator.
package struct SwarmSweep: Sendable {
  private let admin: AdminClient

  /// The maximum number of posts per request.
  private static let postsAtOnce = 100

  package init(_ admin: AdminClient) {
    self.admin = admin
  }

  /// Removes the posts of some users with all comments on them, and the data about the users.
  ///
  /// - Returns: The number of posts removed.
  /// - Throws: ``SwarmProblem``, or a connection error.
  /// - Complexity: O(posts), with one request per hundred of them
  package func remove(_ uids: [String]) async throws -> Int {
    var count = 0
    try await removeDeletions(by: Set(uids))
    for uid in uids {
      var rest = try await admin.keys(of: "/user-posts/\(uid)")[...]
      count += rest.count
      repeat {
        let posts = rest.prefix(Self.postsAtOnce)
        rest = rest.dropFirst(posts.count)
        var paths = posts.flatMap { post in
          ["posts/\(post)", "post-comments/\(post)", "typing/\(post)", "user-posts/\(uid)/\(post)"]
        }
        if rest.isEmpty {
          let own = [
            "users", "seen", "presence", "reading", "following", "muted", "blocked", "bookmarks",
            "searches",
          ]
          paths += own.map { "\($0)/\(uid)" }
        }
        try await admin.patch("/", with: .object(paths.map { JSONMember($0, .null) }))
      } while !rest.isEmpty
    }
    return count
  }

  /// Removes the keys of the posts and comments that some users deleted.
  private func removeDeletions(by uids: Set<String>) async throws {
    var paths: [String] = []
    for post in try await admin.get("/deleted").members ?? [] {
      for entry in post.value.members ?? [] where uids.contains(entry.value.string ?? "") {
        paths.append("deleted/\(post.name)/\(entry.name)")
      }
    }
    while !paths.isEmpty {
      let some = paths.prefix(Self.postsAtOnce)
      paths.removeFirst(some.count)
      try await admin.patch("/", with: .object(some.map { JSONMember($0, .null) }))
    }
  }
}
