import RealtimeCore

/// What a listener of a client was told, and so what its screen showed from then on.
struct Showing: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    /// A post, with its star count, the number of its stars, and whether the user's own star is
    /// among them.
    ///
    /// The version is the hash of the post's data, where the client knows it.
    case post(String, starCount: Int, stars: Int, isMine: Bool, version: String?)
    /// A post is no longer shown.
    case postGone(String)
    /// All comments on a post, in the order shown, once they come from the server.
    case comments(post: String, keys: [String])
  }

  /// The name of the view within the client, such as "recent" or "comments/KEY".
  var view: String
  /// The number of the event within the view, from 1 in each process.
  var order: Int
  var content: Content

  /// The name of the event in a report.
  func location(at client: ClientHistory) -> String {
    "\(client.header.client), \(view), event \(order)"
  }

  var fields: JSONFields {
    let what: JSONFields =
      switch content {
      case .post(let key, let starCount, let stars, let isMine, let version):
        [
          "what": "post", "post": key, "starCount": starCount, "stars": stars, "mine": isMine,
          "version": version,
        ]
      case .postGone(let key): ["what": "gone", "post": key]
      case .comments(let post, let keys): ["what": "comments", "post": post, "keys": keys]
      }
    return ["view": view, "order": order] + what
  }
}

extension Showing {
  init(_ fields: JSONFields) throws(HistoryError) {
    view = try fields("view")
    order = try fields("order")
    let what: String = try fields("what")
    switch what {
    case "post":
      content = try .post(
        fields("post"),
        starCount: fields("starCount"),
        stars: fields("stars"),
        isMine: fields("mine"),
        version: fields("version")
      )
    case "gone": content = try .postGone(fields("post"))
    case "comments": content = try .comments(post: fields("post"), keys: fields("keys"))
    default: throw fields.missing("what")
    }
  }
}

/// What a listener of a client was told about a path, event by event, before a screen shows it.
struct Telling: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    /// The path has this data from then on.
    ///
    /// The version is the hash of the data, or nil while it includes the client's own pending
    /// writes. The changes are the values that differ from what was told before, by their paths, if
    /// they are few.
    case child(version: String?, changes: JSONValue?)
    case gone
    /// The view has the server's data, and each further change will be told.
    ///
    /// The limit is the number of last children that the view contains, or nil for all.
    case everything(limit: Int?)
  }

  /// The name of the view within the client.
  var view: String
  /// The path, such as "/posts/KEY", or that of the view if the event is about the whole view.
  var path: String
  var content: Content

  var fields: JSONFields {
    let what: JSONFields =
      switch content {
      case .child(let version, let changes):
        ["what": "child", "version": version, "changes": changes]
      case .gone: ["what": "gone"]
      case .everything(let limit): ["what": "everything", "limit": limit]
      }
    return ["view": view, "path": path] + what
  }
}

extension Telling {
  init(_ fields: JSONFields) throws(HistoryError) {
    view = try fields("view")
    path = try fields("path")
    let what: String = try fields("what")
    switch what {
    case "child":
      content = try .child(version: fields("version"), changes: fields("changes"))
    case "gone": content = .gone
    case "everything": content = try .everything(limit: fields("limit"))
    default: throw fields.missing("what")
    }
  }
}

extension Node {
  /// The maximum number of values recorded for one change.
  private static let toldValues = 16

  /// The values that differ from earlier data, by their paths; null where a value is gone.
  ///
  /// - Returns: An object, or nil when nothing changed or too much changed for one line.
  /// - Complexity: O(children of what changed)
  func changedValues(from old: Node) -> JSONValue? {
    var values: [JSONMember] = []
    Self.collect(from: old, to: self, at: "", &values)
    return values.isEmpty || values.count > Self.toldValues ? nil : .object(values)
  }

  private static func collect(
    from old: Node,
    to new: Node,
    at path: String,
    _ values: inout [JSONMember]
  ) {
    guard old != new, values.count <= toldValues else { return }
    if old.childCount > 0 || new.childCount > 0 {
      for key in new.differences(from: old) {
        let childPath = path.isEmpty ? key.text : "\(path)/\(key)"
        collect(from: old[key], to: new[key], at: childPath, &values)
      }
      if new.childCount > 0 || new.isEmpty { return }
    }
    values.append(JSONMember(path, new.json(.value)))
  }
}
