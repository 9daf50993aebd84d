internal import RealtimeCore
internal import RealtimeTransport

/// A question of the original's tools that is about a database or the server, and not about data.
enum ToolRequest {
  case setting(String)
  case databases

  /// The settings of every database; none of them can be changed.
  private static let settings: [String: JSONValue] = [
    "defaultWriteSizeLimit": .string("unlimited"), "strictTriggerValidation": .bool(false),
  ]

  /// Recognizes the path of such a question.
  init?(path: String) {
    let segments = path.split(separator: "/")
    guard segments.count == 2, segments[1].hasSuffix(".json") else { return nil }
    let name = String(segments[1].dropLast(".json".count))
    switch segments[0] {
    case ".settings": self = .setting(name)
    case ".inspect" where name == "databases": self = .databases
    default: return nil
    }
  }

  /// Answers the question, unless there is no such setting or the request would change it.
  func answer(to request: HTTPRequest, databases: [String]) throws(RESTError) -> HTTPAnswer {
    let isRead = try RESTRequest.method(of: request).isRead
    switch self {
    case .setting(let name):
      guard let value = Self.settings[name] else {
        throw RESTError(404, reason: "there is no setting \(name)")
      }
      guard isRead || request.body == Array(value.text.utf8) else {
        throw RESTError(400, reason: "\(name) is always \(value.text) here")
      }
      return .json(200, body: Array(value.text.utf8))
    case .databases:
      guard isRead else {
        let reason = "the list of databases is read-only"
        throw RESTError(405, reason: reason, allowed: [.get, .head, .options])
      }
      let list = databases.map { JSONValue.object(("name", .string($0))) }
      return .json(200, body: Array(JSONValue.array(list).text.utf8))
    }
  }
}
