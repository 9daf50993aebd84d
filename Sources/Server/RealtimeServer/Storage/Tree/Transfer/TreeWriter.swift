package import RealtimeCore

/// Writes the tree of rows as JSON in the export format, and passes the text on as it grows.
package struct TreeWriter: RowVisitor {
  private struct Level {
    var isEmpty = true
    var priority: LeafValue?
  }

  /// The approximate number of bytes of text that are passed on at once.
  private static let chunkBytes = 64 * 1_024

  private let layout: ExportLayout
  /// Receives the text piece by piece.
  private let sink: (String) throws -> Void
  private var writer = JSONWriter()
  private var levels: [Level] = []
  private var isEmpty = true

  package init(_ layout: ExportLayout, sink: @escaping (String) throws -> Void) {
    self.layout = layout
    self.sink = sink
  }

  // MARK: Visitor

  package mutating func open(_ key: ChildKey) throws {
    beginMember(key.text)
    begin()
  }

  package mutating func add(_ node: Node, as key: ChildKey?) throws {
    if let key { beginMember(key.text) }
    isEmpty = false
    write(node)
    if writer.bytes.count >= Self.chunkBytes { try flush() }
  }

  package mutating func setPriority(_ priority: LeafValue) {
    if levels.isEmpty { begin() }
    levels[levels.count - 1].priority = priority
  }

  package mutating func close() throws {
    end()
    if writer.bytes.count >= Self.chunkBytes { try flush() }
  }

  /// Completes the text.
  package consuming func finish() throws {
    if !levels.isEmpty { end() }
    if isEmpty { writer.raw("null") }
    writer.raw("\n")
    try flush()
  }

  // MARK: Text

  private mutating func begin() {
    writer.raw("{")
    isEmpty = false
    levels.append(Level())
  }

  private mutating func end() {
    if let priority = levels.last?.priority {
      beginMember(".priority")
      write(.leaf(priority))
    }
    let level = levels.removeLast()
    if !level.isEmpty { breakLine() }
    writer.raw("}")
  }

  private mutating func beginMember(_ name: String) {
    if levels.isEmpty { begin() }
    if !levels[levels.count - 1].isEmpty { writer.raw(",") }
    levels[levels.count - 1].isEmpty = false
    breakLine()
    writer.write(name)
    layout == .lines ? writer.raw(": ") : writer.raw(":")
  }

  private mutating func breakLine() {
    guard layout == .lines else { return }
    writer.raw("\n")
    for _ in levels { writer.raw("  ") }
  }

  private mutating func write(_ node: Node) {
    guard layout == .lines else { return node.write(to: &writer) }
    switch node {
    case .empty, .leaf(_, nil): node.write(to: &writer)
    case .leaf(let value, let priority?):
      begin()
      beginMember(".value")
      Node.leaf(value).write(to: &writer)
      levels[levels.count - 1].priority = priority.value
      end()
    case .children(let children):
      begin()
      for (key, child) in children.map {
        beginMember(key.text)
        write(child)
      }
      levels[levels.count - 1].priority = children.priority?.value
      end()
    }
  }

  private mutating func flush() throws {
    try sink(writer.text)
    writer = JSONWriter()
  }
}
