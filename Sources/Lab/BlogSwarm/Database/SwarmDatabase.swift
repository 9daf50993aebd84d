package import BlogChecker
private import NIOPosix
package import RealtimeCore
package import RealtimeTransport

/// A database that is there already, and the ways into it.
package struct SwarmDatabase: Sendable {
  /// The URL, as it was given.
  package let url: String
  /// Where it is.
  package let target: ConnectionTarget
  /// The secret of its administrators; nil at a local socket and at an emulator, which need none.
  package var administratorKey: String?
  /// The key of its project, which the hosted service wants of people who sign in.
  package var apiKey: String?
  /// The file of the trusted certificates, instead of those of the system.
  package var caFile: String?

  /// Names a database.
  ///
  /// - Throws: `DatabaseURLError` for a URL that is none of a database.
  package init(_ url: String) throws(DatabaseURLError) {
    self.url = url
    target = try DatabaseURL(url).target
  }

  /// Whether users need accounts, though nobody knows the administrators' secret.
  package var wantsAccounts = false

  /// Whether users need accounts there.
  package var hasAccounts: Bool { wantsAccounts || administratorKey != nil }

  /// Whether it is at a socket of this machine, where everybody is an administrator.
  package var isAtSocket: Bool {
    if case .unix = target.endpoint { true } else { false }
  }

  /// Whether it is a database of the hosted service.
  package var isHosted: Bool { IdentityService(of: target) == .hosted }

  /// A client for its administrator.
  package var admin: AdminClient {
    AdminClient(target, key: administratorKey, trust: trust)
  }

  /// Whose certificates are believed.
  var trust: TrustRoots { caFile.map { .file($0) } ?? .system }
}

/// A client of the administrator: it uses HTTP, and neither rules nor the client library apply to it.
package struct AdminClient: Sendable {
  /// A request that was not granted.
  package struct Problem: Error, Hashable, CustomStringConvertible {
    /// What was answered.
    package let description: String
  }

  private let target: ConnectionTarget
  /// Others of the same servers, of which only one leads the database.
  private let others: @Sendable () -> [ConnectionTarget]
  private let client: HTTPClient
  /// What proves that one is an administrator, or nil where nothing has to.
  private let token: String?

  /// What an emulator takes for the proof of an administrator.
  private static let emulatorToken = "owner"

  /// Makes a client of a server.
  ///
  /// - Parameters:
  ///   - target: Its address; every client of a Unix socket is an administrator.
  ///   - others: The addresses of all servers of the same database that answer at the moment, where
  ///     several share it: only one leads it, and the one that most likely does is the first.
  ///   - key: The secret of its administrators, or nil for an emulator.
  ///   - trust: Whose certificates are believed.
  ///   - timeout: How long an answer may take.
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
  package var observer: StreamObserver {
    StreamObserver(client: client, target: target, token: token)
  }

  /// Whether the server accepts this client as an administrator.
  ///
  /// - Throws: ``Problem`` when it says neither, or what the connection reports.
  package func isOpen() async throws -> Bool {
    let answer = try await ask("GET", to: "/.settings/rules")
    if answer.status == 401 || answer.status == 403 { return false }
    _ = try Self.text(of: answer, to: "GET /.settings/rules")
    return true
  }

  /// Reads what is at a path.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func get(_ path: String) async throws -> JSONValue {
    try JSONParser.parse(try await send("GET", to: path))
  }

  /// The keys of what is at a path, without what is below them.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func keys(of path: String) async throws -> [String] {
    let answer = try await ask("GET", to: path, parameter: "shallow=true")
    let json = try JSONParser.parse(try Self.text(of: answer, to: "GET \(path)"))
    return (json.members ?? []).map(\.name)
  }

  /// Replaces the value at a path.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func put(_ value: JSONValue, at path: String) async throws {
    _ = try await send("PUT", to: path, body: Array(value.text.utf8))
  }

  /// Changes several paths at once.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func patch(_ path: String, with changes: JSONValue) async throws {
    _ = try await send("PATCH", to: path, body: Array(changes.text.utf8))
  }

  /// The rules that are in force.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func rules() async throws -> String { try await send("GET", to: "/.settings/rules") }

  /// Puts rules in force.
  ///
  /// - Throws: ``Problem``, or what the connection reports.
  package func setRules(_ source: String) async throws {
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
      // One that does not lead the database says so.
      if let answer = try? await ask(target), answer.status != Self.leadsNothing { return answer }
    }
    return try await ask(target)
  }

  /// The status with which a server answers at its socket that does not lead the database.
  private static let leadsNothing = 503

  private static func text(of answer: HTTPClientAnswer, to request: String) throws -> String {
    let text = String(decoding: answer.body, as: UTF8.self)
    guard (200..<300).contains(answer.status) else {
      throw Problem(description: "\(request): \(answer.status) \(text)")
    }
    return text
  }
}

/// Removes, as an administrator, what some people have written in a blog.
package struct SwarmSweep: Sendable {
  private let admin: AdminClient

  /// The most posts that go with one request.
  private static let postsAtOnce = 100

  /// Makes a sweep.
  ///
  /// - Parameter admin: The client of the database.
  package init(_ admin: AdminClient) {
    self.admin = admin
  }

  /// Removes the posts of some people with all comments on them, and what is known of the people.
  ///
  /// - Parameter uids: Who they are.
  /// - Returns: How many posts there were.
  /// - Throws: `AdminClient.Problem`, or what the connection reports.
  /// - Complexity: O(posts), a request for each hundred of them
  package func remove(_ uids: [String]) async throws -> Int {
    var count = 0
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
          paths += ["users", "seen", "presence", "following"].map { "\($0)/\(uid)" }
        }
        try await admin.patch("/", with: .object(paths.map { JSONMember($0, .null) }))
      } while !rest.isEmpty
    }
    return count
  }
}
