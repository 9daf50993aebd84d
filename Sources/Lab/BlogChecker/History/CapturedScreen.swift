import RealtimeCore

/// What stood on the screen of a terminal at one moment, as `tmux capture-pane` prints it.
package struct CapturedScreen: Hashable, Sendable {
  /// A post as a list shows it.
  package struct Row: Hashable, Sendable {
    /// The title.
    package var title: String
    /// The number of stars beside it.
    package var stars: Int

    /// Makes a row.
    package init(title: String, stars: Int) {
      self.title = title
      self.stars = stars
    }
  }

  /// The cells that text of others may fill.
  package struct Box: Hashable, Sendable {
    /// The first column, counted from 0.
    package var column: Int
    /// The first line, counted from 0.
    package var line: Int
    /// How many columns there are.
    package var width: Int
    /// How many lines there are.
    package var height: Int

    /// Makes a box.
    package init(column: Int, line: Int, width: Int, height: Int) {
      self.column = column
      self.line = line
      self.width = width
      self.height = height
    }
  }

  /// The name of the terminal.
  package var terminal: String
  /// Terminals of one group show the same, so that their rows and lines must be equal.
  package var group: String
  /// The lines that must be equal within the group, without those that tell the terminals apart.
  package var lines: [String]
  /// The posts among the lines, in their order; each must be as it is in the database.
  package var rows: [Row]
  /// The same screen with harmless text in the box, where the text is hostile.
  package var reference: [String]?
  /// Where the hostile text may be.
  package var box: Box?

  /// Makes a screen.
  package init(
    terminal: String,
    group: String,
    lines: [String],
    rows: [Row] = [],
    reference: [String]? = nil,
    box: Box? = nil
  ) {
    self.terminal = terminal
    self.group = group
    self.lines = lines
    self.rows = rows
    self.reference = reference
    self.box = box
  }

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
