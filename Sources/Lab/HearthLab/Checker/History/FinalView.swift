import RealtimeCore

/// What a client showed at a path when everything was quiet.
struct FinalView: Hashable, Sendable {
  /// The name of the view within the client.
  var view: String
  /// The path, such as "/posts".
  var path: String
  /// The child by which the view is ordered, or nil for ordering by key.
  var orderedBy: String?
  /// The number of last children that the view contains, or nil for all.
  var limit: Int?
  /// The hash of the client's data (`Node.hash`).
  var digest: String

  var fields: JSONFields {
    ["view": view, "path": path, "orderedBy": orderedBy, "limit": limit, "digest": digest]
  }
}

extension FinalView {
  init(_ fields: JSONFields) throws(HistoryError) {
    view = try fields("view")
    path = try fields("path")
    orderedBy = try fields("orderedBy")
    limit = try fields("limit")
    digest = try fields("digest")
  }
}

/// The content of a terminal's screen at one moment, as `tmux capture-pane` prints it.
struct CapturedScreen: Hashable, Sendable {
  /// A post as a list shows it.
  struct Row: Hashable, Sendable {
    var title: String
    var stars: Int
  }

  var terminal: String
  /// Terminals of one group show the same content, so their rows and lines must be equal.
  var group: String
  /// The lines that must be equal within the group, without those that differ between terminals.
  var lines: [String]
  /// The posts among the lines, in order; each must match the database.
  var rows: [Row] = []

  var fields: JSONFields {
    ["terminal": terminal, "group": group, "lines": lines, "rows": rows]
  }
}

extension CapturedScreen {
  init(_ fields: JSONFields) throws(HistoryError) {
    terminal = try fields("terminal")
    group = try fields("group")
    lines = try fields("lines")
    let rows: [Row]? = try fields("rows")
    self.rows = rows ?? []
  }
}

extension CapturedScreen.Row: JSONField {
  var json: JSONValue? { (["title": title, "stars": stars] as JSONFields).json }

  static func read(_ json: JSONValue) -> Self? {
    let fields = JSONFields(json)
    return try? Self(title: fields("title"), stars: fields("stars"))
  }
}
