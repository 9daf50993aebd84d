import Foundation
import Logging
import NIOPosix
import RealtimeCore
import RealtimeServer
import RealtimeTransport

/// Manages accounts for an administrator's command.
///
/// Requests go through the server that owns the accounts or, if none is running, directly to the
/// files. Accounts in PostgreSQL are changed there, and all its servers notice.
struct AdminClient {
  private let paths: ProgramPaths
  /// The PostgreSQL that has the accounts; nil for those of the data directory.
  private let store: String?
  private let stored: any StoredDatabase
  /// Whether a server has the accounts of the data directory.
  private let hasServer: Bool
  private let database: String
  private let timeout: Duration

  /// Finds the accounts of a database.
  ///
  /// - Throws: ``CommandFailure`` when there is no such database.
  init(_ options: CommonOptions, for choice: DatabaseChoice) throws {
    paths = try options.paths()
    store = choice.storage.store
    hasServer = try store == nil && options.hasServer()
    timeout = .seconds(options.timeout)
    stored = try choice.database(options)
    database = choice.name
  }

  /// Sends a request about accounts.
  ///
  /// The method is what follows `accounts:`; nil creates an account. Only a read-only request has
  /// query parameters.
  func call(
    _ method: String?,
    members: [String: JSONValue] = [:],
    parameters: [(name: String, value: String)]? = nil
  ) async throws -> JSONValue {
    // Several servers know a database only once it is in PostgreSQL.
    if method == nil, let store, try !stored.exists {
      let place = Storage.name(of: store)
      throw CommandFailure(.notFound, "there is no database \"\(database)\" in \(place)")
    }
    return try await send(
      .administration(project: database, method),
      members: members,
      parameters: parameters
    )
  }

  func rotateKey() async throws -> JSONValue {
    try await send(.keyRotation(project: database))
  }

  /// The account with an email address or an identifier.
  ///
  /// - Throws: ``CommandFailure`` when there is none.
  func account(_ user: String) async throws -> JSONValue {
    let name = user.contains("@") ? "email" : "localId"
    let answer = try await call("lookup", members: [name: .array([.string(user)])])
    guard let account = answer["users"]?.elements?.first else {
      throw CommandFailure(.notFound, "there is no account \"\(user)\"")
    }
    return account
  }

  private func send(
    _ route: IdentityRoute,
    members: [String: JSONValue] = [:],
    parameters: [(name: String, value: String)]? = nil
  ) async throws -> JSONValue {
    var request = IdentityRequest(parameters == nil ? "POST" : "GET", at: route, database: database)
    request.parameters = parameters ?? []
    if parameters == nil {
      request.body = Array(JSONValue.object(members.map { JSONMember($0, $1) }).text.utf8)
      request.contentType = "application/json"
    }
    let answer = try await hasServer ? sendToServer(request) : answerHere(request)
    guard answer.status == 200 else { throw Self.failure(of: answer.status, answer.json) }
    return answer.json
  }

  // MARK: Sending

  private typealias Answer = (status: Int, json: JSONValue)

  private func sendToServer(_ request: IdentityRequest) async throws -> Answer {
    let answer = try await AdminSocket(path: paths.socket, timeout: timeout).answer(
      to: request.method,
      request.target,
      request.body,
      contentType: request.contentType
    )
    return (answer.status, (try? JSONParser.parse(answer.body)) ?? .null)
  }

  private func answerHere(_ request: IdentityRequest) async throws -> Answer {
    let service = try await AccountService(
      { [store] in
        if let store { return try Storage.sharedAccounts(at: store, changesSchema: false) }
        return try Storage.accounts(in: paths.identities)
      },
      settings: IdentitySettings(),
      clock: { Int64(Date().timeIntervalSince1970 * 1_000) },
      logger: Logger(label: "hearth.users") { _ in SwiftLogNoOpLogHandler() }
    )
    var request = request
    request.isAdministrator = true
    let answer = await service.answer(request)
    await service.close()
    return (answer.status, answer.json)
  }

  // MARK: Failures

  private static func failure(of status: Int, _ json: JSONValue) -> CommandFailure {
    let message = json["error"]?["message"]?.string ?? json["error"]?.string ?? ""
    switch message.prefix(while: { $0 != " " }) {
    case "EMAIL_EXISTS":
      return CommandFailure(.conflict, "another account has this address")
    case "INVALID_EMAIL": return CommandFailure(.usage, "this is not an email address")
    case "WEAK_PASSWORD":
      let rule = message.components(separatedBy: " : ").last ?? message
      return CommandFailure(.usage, "a \(rule.lowercased())")
    case "EMAIL_NOT_FOUND", "USER_NOT_FOUND":
      return CommandFailure(.notFound, "there is no such account")
    case "PROJECT_NOT_FOUND":
      return CommandFailure(.notFound, "there is no such database")
    case "PERMISSION_DENIED":
      return CommandFailure(.notPermitted, "only administrators of the server may do this")
    case _:
      let text = message.isEmpty ? "status \(status)" : message
      return CommandFailure(status >= 500 ? .failed : .usage, "the server refuses: \(text)")
    }
  }
}

/// The socket of the local server; whoever may open it is the server's administrator.
struct AdminSocket {
  let path: String
  let timeout: Duration

  /// Sends a request and returns the answer, also if it is a refusal.
  ///
  /// - Throws: ``CommandFailure`` if the server cannot be reached.
  func answer(
    to method: String,
    _ target: String,
    _ body: [UInt8],
    contentType: String? = nil
  ) async throws(CommandFailure) -> (status: Int, body: [UInt8]) {
    let client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: .system,
      timeout: timeout
    )
    let type = contentType.map { HTTPAnswer.HeaderLine("Content-Type", $0) }
    let request = HTTPClientRequest(
      method,
      to: ConnectionTarget(unixSocket: path),
      path: target,
      headerLines: [type].compactMap(\.self),
      body: body
    )
    do throws(HTTPClientError) {
      let answer = try await client.send(request)
      return (answer.status, answer.body)
    } catch {
      throw CommandFailure(.offline, error.description)
    }
  }
}
