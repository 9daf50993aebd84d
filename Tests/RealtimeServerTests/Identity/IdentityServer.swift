import Logging
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeTransport
import Testing

@testable import RealtimeServer

/// A server with accounts, whose clock a test controls.
struct IdentityServer: Sendable {
  /// The `email` and `password` of a user, which most tests need.
  static let ada = (email: "ada@example.com", password: "correct horse")

  let server: DatabaseServer
  private let time: NIOLockedValueBox<Int64>

  static func start(
    rules: DatabaseServer.Rules = .open,
    store: (any IdentityStore)? = nil,
    socketPath: String? = nil,
    stores: any TreeStores = MemoryTreeStores(),
    redirects: Bool = false,
    logger: Logger = Logger(label: "test"),
    _ adjust: @escaping @Sendable (inout IdentitySettings) -> Void = { _ in }
  ) async throws -> IdentityServer {
    var options = DatabaseServer.Options(port: 0, rules: rules)
    options.socketPath = socketPath
    options.redirectsClients = redirects
    if let store { options.identities.openStore = { store } }
    options.identities.adjust = { settings in
      settings.passwordCost = .token
      adjust(&settings)
    }
    let time = NIOLockedValueBox<Int64>(1_700_000_000_000)
    let server = try await DatabaseServer.start(
      options,
      stores: stores,
      logger: logger,
      clock: { time.withLockedValue { $0 } }
    ).endingWithTest()
    return IdentityServer(server: server, time: time)
  }

  /// Starts two servers that share accounts and data, soon see each other's changes, and redirect
  /// clients to each other.
  static func startTwo(
    rules: DatabaseServer.Rules,
    sharing accounts: any IdentityStore,
    and stores: any TreeStores,
    administratorKey: String
  ) async throws -> [IdentityServer] {
    var servers: [IdentityServer] = []
    for _ in 0..<2 {
      servers.append(
        try await start(rules: rules, store: accounts, stores: stores, redirects: true) {
          $0.refreshInterval = .milliseconds(50)
          $0.administratorKey = AdministratorKey(administratorKey)
        }
      )
    }
    return servers
  }

  /// The server's current time, in milliseconds since 1970.
  var now: Int64 { time.withLockedValue { $0 } }

  /// Advances the server's clock.
  func advance(seconds: Int64) { time.withLockedValue { $0 += seconds * 1_000 } }

  // MARK: Requests

  struct Answer: Sendable {
    let status: Int
    let json: JSONValue
    let lines: [String: String]

    subscript(name: String) -> String { json[name]?.string ?? "" }
    /// The code of a refusal, without any text that follows it.
    var code: String {
      let message = json["error"]?["message"]?.string ?? ""
      return String(message.prefix { $0 != " " })
    }
  }

  /// Sends a request with any body to the port.
  func request(
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    lines: [String] = []
  ) async throws -> Answer {
    let probe = try await HTTPProbe(server.address)
    let answer = try await probe.request(method, target, body, lines: lines)
    await probe.close()
    let json = (try? JSONParser.parse(answer.body)) ?? .null
    return Answer(status: answer.status, json: json, lines: answer.lines)
  }

  /// Sends a request, and expects the status of its response.
  @discardableResult
  func request(
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    lines: [String] = [],
    gives status: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Answer {
    let answer = try await request(method, target, body, lines: lines)
    #expect(
      answer.status == status,
      "\(method) \(target) gives \(answer)",
      sourceLocation: sourceLocation
    )
    return answer
  }

  /// Sends a user's request with JSON members.
  func post(_ method: String, _ members: [String: JSONValue] = [:]) async throws -> Answer {
    let json = JSONValue.object(members.map { JSONMember($0.key, $0.value) })
    return try await request(
      "POST",
      "/v1/accounts:\(method)?key=any",
      json.text,
      lines: ["Content-Type: application/json"]
    )
  }

  func signUp(_ email: String = ada.email, _ password: String = ada.password) async throws -> Answer
  {
    try await post("signUp", ["email": .string(email), "password": .string(password)])
  }

  func signIn(_ email: String = ada.email, _ password: String = ada.password) async throws -> Answer
  {
    try await post("signInWithPassword", ["email": .string(email), "password": .string(password)])
  }

  func refresh(_ token: String) async throws -> Answer {
    try await request(
      "POST",
      "/v1/token?key=any",
      "grant_type=refresh_token&refresh_token=\(token)",
      lines: ["Content-Type: application/x-www-form-urlencoded"]
    )
  }

  /// Whether the database accepts a token over REST.
  func accepts(_ token: String) async throws -> Bool {
    try await request("GET", "/a.json?auth=\(token)").status == 200
  }
}
