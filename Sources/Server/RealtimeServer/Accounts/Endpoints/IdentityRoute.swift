/// What a path of the Identity Toolkit is about.
///
/// The hosted service has two hosts; the emulator has one, with their names before the path. Here
/// both forms are understood, on the port of the database.
package enum IdentityRoute: Hashable, Sendable {
  /// `/v1/accounts:METHOD`: what a user does.
  case user(String)
  /// `/v1/token`: going on with a session.
  case token
  /// `/v1/projects/PROJECT/accounts` and `…/accounts:METHOD`: what administrators do with accounts.
  case administration(project: String, String?)
  /// `/v1/projects/PROJECT/keys:rotate`: a new key for tokens.
  case keyRotation(project: String)
  /// `/emulator/v1/projects/PROJECT/NAME`: what only the emulator has.
  case emulator(project: String, String)

  private static let hosts = ["identitytoolkit.googleapis.com", "securetoken.googleapis.com"]

  /// Reads a path; nil when it is about something else.
  ///
  /// - Complexity: O(length)
  package init?(path: String) {
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

  /// The path, in the form of one host.
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
