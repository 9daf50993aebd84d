import RealtimeCore

/// What a client showed at a path when everything was quiet.
package struct FinalView: Hashable, Sendable {
  /// The name of the view within the client.
  package var view: String
  /// The path, such as "/posts".
  package var path: String
  /// The child by which the view is ordered, or nil for ordering by key.
  package var orderedBy: String?
  /// The number of last children that the view contains, or nil for all.
  package var limit: Int?
  /// The hash of the client's data (`Node.hash`).
  package var digest: String

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
package struct CapturedScreen: Hashable, Sendable {
  /// A post as a list shows it.
  package struct Row: Hashable, Sendable {
    /// The title.
    package var title: String
    /// The number of stars shown with it.
    package var stars: Int
  }

  /// The cells that text from other users may fill.
  package struct Box: Hashable, Sendable {
    /// The first column, from 0.
    package var column: Int
    /// The first line, from 0.
    package var line: Int
    /// The number of columns.
    package var width: Int
    /// The number of lines.
    package var height: Int
  }

  /// The name of the terminal.
  package var terminal: String
  /// Terminals of one group show the same content, so their rows and lines must be equal.
  package var group: String
  /// The lines that must be equal within the group, without those that differ between terminals.
  package var lines: [String]
  /// The posts among the lines, in order; each must match the database.
  package var rows: [Row] = []
  /// The same screen with harmless text in the box, if the text is hostile.
  package var reference: [String]?
  /// The cells to which hostile text must be confined.
  package var box: Box?

  var members: [JSONMember] {
    func list(_ lines: [String]) -> JSONValue { .array(lines.map { .string($0) }) }
    let rows = rows.map { row in
      JSONValue.object(("title", .string(row.title)), ("stars", .integer(Int64(row.stars))))
    }
    let box = box.map { box in
      [box.column, box.line, box.width, box.height].map { JSONValue.integer(Int64($0)) }
    }
    return [
      JSONMember("terminal", .string(terminal)),
      JSONMember("group", .string(group)),
      JSONMember("lines", list(lines)),
      JSONMember("rows", .array(rows)),
      JSONMember("reference", reference.map(list) ?? .null),
      JSONMember("box", box.map { .array($0) } ?? .null),
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
    reference = fields.optionalTexts("reference")
    if let numbers = fields.value("box")?.elements?.compactMap(\.integer) {
      guard numbers.count == 4 else { throw fields.missing("box") }
      box = Box(
        column: Int(numbers[0]),
        line: Int(numbers[1]),
        width: Int(numbers[2]),
        height: Int(numbers[3])
      )
    }
  }
}
