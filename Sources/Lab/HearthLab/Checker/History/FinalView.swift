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

  var members: [JSONMember] {
    [
      JSONMember("view", .string(view)),
      JSONMember("path", .string(path)),
      JSONMember("orderedBy", orderedBy.map { .string($0) } ?? .null),
      JSONMember("limit", limit.map { .integer(Int64($0)) } ?? .null),
      JSONMember("digest", .string(digest)),
    ]
  }
}

extension FinalView {
  init(_ fields: HistoryFields) throws(HistoryError) {
    view = try fields.text("view")
    path = try fields.text("path")
    orderedBy = fields.optionalText("orderedBy")
    limit = fields.optionalInteger("limit").map { Int($0) }
    digest = try fields.text("digest")
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

  var members: [JSONMember] {
    let rows = rows.map { row in
      JSONValue.object(("title", .string(row.title)), ("stars", .integer(Int64(row.stars))))
    }
    return [
      JSONMember("terminal", .string(terminal)),
      JSONMember("group", .string(group)),
      JSONMember("lines", .array(lines.map { .string($0) })),
      JSONMember("rows", .array(rows)),
    ]
  }
}

extension CapturedScreen {
  init(_ fields: HistoryFields) throws(HistoryError) {
    terminal = try fields.text("terminal")
    group = try fields.text("group")
    lines = try fields.texts("lines")
    rows = []
    for element in fields.value("rows")?.elements ?? [] {
      let row = HistoryFields(element)
      rows.append(Row(title: try row.text("title"), stars: Int(try row.integer("stars"))))
    }
  }
}
