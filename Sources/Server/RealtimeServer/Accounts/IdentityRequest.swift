internal import RealtimeCore
internal import RealtimeTransport

/// An identity request, which came over HTTP or from a command on the same machine.
package struct IdentityRequest: Sendable {
  /// The method, such as "POST".
  package var method: String
  package var route: IdentityRoute
  /// The database whose accounts the request concerns.
  package var database: String
  package var parameters: [(name: String, value: String)] = []
  /// The media type of the body, or nil if it has none.
  package var contentType: String?
  package var body: [UInt8] = []
  /// The host that the client named; nil for a command on the same machine.
  var host: String?
  /// What attempts are counted by: an address, or a user of this machine.
  package var client = ""
  /// Whether an administrator makes it: one at a socket, or one whose token has been checked.
  package var isAdministrator = false
  /// Whether the client has left, so that nobody awaits the answer.
  var isAbandoned: @Sendable () -> Bool = { false }
  /// The token from an `Authorization: Bearer` header, or nil.
  package var bearer: String?

  package init(_ method: String, at route: IdentityRoute, database: String) {
    self.method = method
    self.route = route
    self.database = database
  }

  /// The path and query, as a client sends them.
  package var target: String {
    guard !parameters.isEmpty else { return route.path }
    let pairs = parameters.map { name, value in
      "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))"
    }
    return "\(route.path)?\(pairs.joined(separator: "&"))"
  }

  /// The value of the first parameter with a name, or nil.
  func parameter(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }
}

/// The operation that a path of the Identity Toolkit stands for.
///
/// The hosted service has two hosts. The emulator has one, and puts their names before the path.
/// This server accepts both forms, on the port of the database.
package enum IdentityRoute: Hashable, Sendable {
  /// `/v1/accounts:METHOD`: an operation of a user.
  case user(String)
  /// `/v1/token`: continuing a session.
  case token
  /// `/v1/projects/PROJECT/accounts` and `…/accounts:METHOD`: account administration.
  case administration(project: String, String?)
  /// `/v1/projects/PROJECT/keys:rotate`: replacing the key that signs tokens.
  case keyRotation(project: String)
  /// `/emulator/v1/projects/PROJECT/NAME`: operations that only the emulator has.
  case emulator(project: String, String)

  private static let hosts = ["identitytoolkit.googleapis.com", "securetoken.googleapis.com"]

  /// Parses a path; nil if it is not an identity path.
  ///
  /// - Complexity: O(length)
  init?(path: String) {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.first == "", parts.count >= 3 else { return nil }
    parts.removeFirst()
    if Self.hosts.contains(parts[0]) { parts.removeFirst() }
    if parts.count == 5, parts[0] == "emulator", parts[1] == "v1", parts[2] == "projects" {
      self = .emulator(project: parts[3], parts[4])
      return
    }
    guard parts.first == "v1" else { return nil }
    switch parts.count {
    case 2 where parts[1] == "token": self = .token
    case 2:
      guard let method = Self.method(parts[1], of: "accounts") else { return nil }
      self = .user(method)
    case 4 where parts[1] == "projects" && parts[3] == "accounts":
      self = .administration(project: parts[2], nil)
    case 4 where parts[1] == "projects" && parts[3] == "keys:rotate":
      self = .keyRotation(project: parts[2])
    case 4 where parts[1] == "projects":
      guard let method = Self.method(parts[3], of: "accounts") else { return nil }
      self = .administration(project: parts[2], method)
    default: return nil
    }
  }

  private static func method(_ part: String, of collection: String) -> String? {
    guard part.hasPrefix("\(collection):") else { return nil }
    return String(part.dropFirst(collection.count + 1))
  }

  /// The path, in the form for a single host.
  package var path: String {
    switch self {
    case .user(let method): "/v1/accounts:\(method)"
    case .token: "/v1/token"
    case .administration(let project, nil): "/v1/projects/\(project)/accounts"
    case .administration(let project, let method?): "/v1/projects/\(project)/accounts:\(method)"
    case .keyRotation(let project): "/v1/projects/\(project)/keys:rotate"
    case .emulator(let project, let name): "/emulator/v1/projects/\(project)/\(name)"
    }
  }

  /// The project that the path names, or nil.
  package var project: String? {
    switch self {
    case .user, .token: nil
    case .administration(let project, _), .keyRotation(let project), .emulator(let project, _):
      project
    }
  }
}

enum RequestBody {
  /// The maximum nesting of a body; none of the fields is nested.
  private static let depth = 8

  /// The fields of a body.
  ///
  /// - Throws: ``IdentityError`` when the body has the wrong type or is malformed, or when a name
  ///   comes twice, which two readers could understand differently.
  static func fields(
    of request: IdentityRequest,
    allowsForm: Bool
  ) throws(IdentityError) -> RequestFields {
    let type = request.contentType.map { text in
      String(text.prefix { $0 != ";" }).filter { $0 != " " && $0 != "\t" }.lowercased()
    }
    let json: JSONValue
    switch type {
    case nil, "application/json": json = try object(request.body)
    case "application/x-www-form-urlencoded" where allowsForm: json = try form(request.body)
    case _?:
      throw IdentityError("INVALID_ARGUMENT", detail: "The Content-Type must be application/json.")
    }
    guard !json.hasRepeatedNames else {
      throw IdentityError("INVALID_ARGUMENT", detail: "A name appears twice.")
    }
    return RequestFields(json)
  }

  private static func object(_ body: [UInt8]) throws(IdentityError) -> JSONValue {
    // A request without a body has no fields, as when an anonymous account is created.
    if body.isEmpty { return .object([]) }
    guard let json = try? JSONParser.parse(body, depthLimit: depth), json.members != nil else {
      throw IdentityError("INVALID_ARGUMENT", detail: "Invalid JSON payload received.")
    }
    return json
  }

  private static func form(_ body: [UInt8]) throws(IdentityError) -> JSONValue {
    let spaced = body.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    guard let text = String(validating: spaced, as: UTF8.self) else {
      throw IdentityError("INVALID_ARGUMENT", detail: "The form is not UTF-8 text.")
    }
    var members: [JSONMember] = []
    for pair in text.split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let texts = sides.compactMap { PercentEncoding.decode($0) }
      guard texts.count == sides.count, let name = texts.first else {
        throw IdentityError("INVALID_ARGUMENT", detail: "The form is malformed.")
      }
      members.append(JSONMember(name, .string(texts.count > 1 ? texts[1] : "")))
    }
    return .object(members)
  }
}

/// The named values of a request, each of which must have the right type.
///
/// A value of the wrong type is refused rather than treated as missing, so that a client that sends
/// a number as a password gets an error.
struct RequestFields {
  private let values: JSONValue

  /// The maximum length of a field without a limit of its own, in bytes.
  private static let maximumBytes = 8 * 1_024

  init(_ values: JSONValue) { self.values = values }

  private subscript(name: String) -> JSONValue? {
    guard let value = values[name], value != .null else { return nil }
    return value
  }

  private static func invalid(_ name: String, type: String) -> IdentityError {
    IdentityError("INVALID_ARGUMENT", detail: "Invalid value at '\(name)' (\(type))")
  }

  /// Checks that fields whose values an account cannot keep are missing or, to remove what no account
  /// has, empty.
  func refuse(_ names: [String]) throws(IdentityError) {
    let empty: [JSONValue?] = [nil, .string(""), .array([]), .object([])]
    guard let name = names.first(where: { !empty.contains(self[$0]) }) else { return }
    throw IdentityError("OPERATION_NOT_ALLOWED", detail: "Accounts here have no \(name).")
  }

  /// A text, or nil when it is missing or empty.
  func text(_ name: String) throws(IdentityError) -> String? {
    let text = try possiblyEmptyText(name)
    return text?.isEmpty == true ? nil : text
  }

  /// A text under one of two names, or nil when it is missing or empty.
  func text(either name: String, or other: String) throws(IdentityError) -> String? {
    if let text = try text(name) { return text }
    return try text(other)
  }

  /// A text that may also be empty, or nil when it is missing.
  func possiblyEmptyText(_ name: String) throws(IdentityError) -> String? {
    guard let value = self[name] else { return nil }
    guard let text = value.string, text.utf8.count <= Self.maximumBytes, !text.utf8.contains(0)
    else {
      throw Self.invalid(name, type: "TYPE_STRING")
    }
    return text
  }

  /// A Boolean value, or nil when it is missing.
  func flag(_ name: String) throws(IdentityError) -> Bool? {
    guard let value = self[name] else { return nil }
    guard let flag = value.bool else { throw Self.invalid(name, type: "TYPE_BOOL") }
    return flag
  }

  /// A list of texts, for which a single text may stand; empty when it is missing.
  func texts(_ name: String) throws(IdentityError) -> [String] {
    guard let value = self[name] else { return [] }
    if let text = value.string { return [text] }
    guard let elements = value.elements, elements.count <= 1_000 else {
      throw Self.invalid(name, type: "TYPE_ARRAY")
    }
    let texts = elements.compactMap(\.string)
    guard texts.count == elements.count else { throw Self.invalid(name, type: "TYPE_STRING") }
    return texts
  }

  /// JSON embedded in a text, an empty object when that is empty, or nil when it is missing.
  func embeddedJSON(_ name: String) throws(IdentityError) -> JSONValue? {
    guard let text = try possiblyEmptyText(name) else { return nil }
    guard !text.isEmpty else { return .object([JSONMember]()) }
    guard let json = try? JSONParser.parse(text) else { throw IdentityError("INVALID_CLAIMS") }
    return json
  }

  /// A normalized email address, or nil when it is missing.
  func email(_ name: String = "email") throws(IdentityError) -> EmailAddress? {
    guard let text = try text(name) else { return nil }
    guard let email = EmailAddress(text) else { throw IdentityError("INVALID_EMAIL") }
    return email
  }

  /// A new password, or nil when it is missing.
  func newPassword(_ name: String = "password") throws(IdentityError) -> Password? {
    guard let text = try text(name) else { return nil }
    return try Password(new: text)
  }

  /// A display name or picture URL, which may be empty, or nil when it is missing.
  func shown(_ name: String, maximumBytes: Int) throws(IdentityError) -> String? {
    guard let text = try possiblyEmptyText(name) else { return nil }
    guard text.utf8.count <= maximumBytes else { throw Self.invalid(name, type: "too long") }
    return text
  }
}
