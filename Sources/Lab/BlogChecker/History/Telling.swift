package import RealtimeCore

/// What a listener of a client was told of a place, event by event, before it came to a screen.
package struct Telling: Hashable, Sendable {
  /// What it was told.
  package enum Content: Hashable, Sendable {
    /// The place has these data from now on.
    ///
    /// The version is their hash, or nil while writes of the client's own are among them. The changes
    /// are the values that differ from what was told before, by their paths, where there are few.
    case child(version: String?, changes: JSONValue?)
    /// Nothing is there any more.
    case gone
    /// What the view has is the server's, and each further change will be told.
    ///
    /// The limit is how many of the last children the view has, or nil for all.
    case everything(limit: Int?)
  }

  /// The name of the view within the client.
  package var view: String
  /// The place, such as "/posts/KEY", or the location of the view where it is about everything.
  package var path: String
  /// What it was told.
  package var content: Content

  /// Makes a telling.
  package init(view: String, path: String, content: Content) {
    self.view = view
    self.path = path
    self.content = content
  }

  var members: [JSONMember] {
    var members = [JSONMember("view", .string(view)), JSONMember("path", .string(path))]
    switch content {
    case .child(let version, let changes):
      members.append(JSONMember("what", .string("child")))
      if let version { members.append(JSONMember("version", .string(version))) }
      if let changes { members.append(JSONMember("changes", changes)) }
    case .gone: members.append(JSONMember("what", .string("gone")))
    case .everything(let limit):
      members.append(JSONMember("what", .string("everything")))
      if let limit { members.append(JSONMember("limit", .integer(Int64(limit)))) }
    }
    return members
  }

  init(_ fields: HistoryFields) throws(HistoryError) {
    view = try fields.text("view")
    path = try fields.text("path")
    switch try fields.text("what") {
    case "child":
      content = .child(
        version: fields.optionalText("version"),
        changes: fields.value("changes")
      )
    case "gone": content = .gone
    case "everything": content = .everything(limit: fields.optionalInteger("limit").map { Int($0) })
    default: throw fields.missing("what")
    }
  }
}

extension Node {
  /// How many values are told of one change at most.
  private static let toldValues = 16

  /// The values in which the data differ from earlier ones, by their paths; null where one is gone.
  ///
  /// - Parameter old: What was there before.
  /// - Returns: An object, or nil when nothing changed or too much for a line.
  /// - Complexity: O(children of what changed)
  package func changedValues(from old: Node) -> JSONValue? {
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
        let place = path.isEmpty ? key.text : "\(path)/\(key)"
        collect(from: old[key], to: new[key], at: place, &values)
      }
      if new.childCount > 0 || new.isEmpty { return }
    }
    values.append(JSONMember(path, new.json(.value)))
  }
}
