internal import RealtimeCore

/// What a client of an event stream is told.
enum StreamEvent: Equatable {
  /// The data at a path, relative to the stream's location, are now these.
  case put(Path, JSONValue)
  /// The data at paths below a path are now these, all at once.
  case patch(Path, [JSONMember])
  /// The stream is alive.
  case keepAlive
  /// The data may no longer be read.
  case cancel
  /// The credential is no longer valid.
  case authRevoked(String)

  /// The event as it is sent.
  var text: [UInt8] {
    let name: String
    let data: JSONValue
    switch self {
    case .put(let path, let json):
      name = "put"
      data = .object(("path", .string(path.description)), ("data", json))
    case .patch(let path, let members):
      name = "patch"
      data = .object(("path", .string(path.description)), ("data", .object(members)))
    case .keepAlive:
      name = "keep-alive"
      data = .null
    case .cancel:
      name = "cancel"
      data = .null
    case .authRevoked(let reason):
      name = "auth_revoked"
      data = .string(reason)
    }
    return Array("event: \(name)\ndata: \(data.text)\n\n".utf8)
  }

  /// Whether nothing follows.
  var isLast: Bool {
    switch self {
    case .put, .patch, .keepAlive: false
    case .cancel, .authRevoked: true
    }
  }

  /// The event for changes of a merge, or nil when none of them shows in the form.
  ///
  /// It names the deepest path above them all, and keys below that are paths where they must be.
  static func patch(
    _ location: Path,
    _ changes: [Change],
    _ form: Node.JSONForm
  ) -> StreamEvent? {
    let shown = changes.filter { form == .export || !$0.path.isPriority }
    guard let first = shown.first else { return nil }
    var common = first.path.keys.dropLast()
    for change in shown.dropFirst() {
      let keys = change.path.keys.dropLast()
      let length = zip(common, keys).prefix { $0 == $1 }.count
      common = common.prefix(length)
    }
    let members = shown.map { change in
      let rest = Path(change.path.keys.dropFirst(common.count))
      return JSONMember(rest.wireText, change.node.json(form))
    }
    return .patch(location.appending(Path(common)), members)
  }
}
