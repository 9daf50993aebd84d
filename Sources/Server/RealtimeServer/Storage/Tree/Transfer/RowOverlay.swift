package import RealtimeCore

/// A table of rows that does not change while it is read.
package protocol RowTable {
  /// The values of the rows that exist at some paths.
  func values(at paths: [ArraySlice<UInt8>]) throws -> [ArraySlice<UInt8>: [UInt8]]
  /// The first paths of rows in a range, in ascending order; empty when there are none.
  func paths(from first: ArraySlice<UInt8>, before end: ArraySlice<UInt8>) throws -> [[UInt8]]
}

/// Changes to the rows of a table that are kept in memory instead of being made in the table.
///
/// It holds only the rows that the changes touch.
package final class RowOverlay<Table: RowTable>: RowEditor {
  /// How many changes are applied at a time, after one query for the rows at their paths.
  private static var width: Int { 4_096 }

  private let table: Table
  private let root = OverlayLocation()
  /// The rows of the table at the paths of the changes being applied; nil where there is none.
  private var known: [ArraySlice<UInt8>: [UInt8]?] = [:]

  package init(above table: Table) { self.table = table }

  /// Applies changes in order.
  ///
  /// - Throws: ``DamagedData``, or an error of reading the table.
  package func apply(_ changes: [Change]) throws {
    let tree = RowTree(self)
    for first in stride(from: 0, to: changes.count, by: Self.width) {
      let part = changes[first..<min(first + Self.width, changes.count)]
      known = [:]
      try read(Array(RowPath.concerned(by: part)))
      for change in part { try tree.apply(change) }
    }
    known = [:]
  }

  /// Prepares to merge the rows of the table with the changes.
  package func merge() -> RowMerge {
    var edits: [RowMerge.Edit] = []
    root.forEachEdit(at: []) { edits.append($0) }
    return RowMerge(edits)
  }

  // MARK: Reading

  private func read(_ paths: [ArraySlice<UInt8>]) throws {
    let found = try table.values(at: paths)
    for path in paths { known[path] = .some(found[path]) }
  }

  package func packedNode(_ path: ArraySlice<UInt8>) throws -> Node? {
    let (location, cleared) = find(path)
    switch location?.content {
    case .row(let value): return try NodeRow.packedNode(value, at: path)
    case .removed: return nil
    case .untouched, nil: break
    }
    guard cleared == nil else { return nil }
    if known[path] == nil { try read([path]) }
    return try (known[path] ?? nil).flatMap { try NodeRow.packedNode($0, at: path) }
  }

  /// The location of a path, and the path at or above it that was removed as a whole.
  private func find(
    _ path: ArraySlice<UInt8>
  ) -> (location: OverlayLocation?, cleared: ArraySlice<UInt8>?) {
    var location = root
    var start = path.startIndex
    var cleared = root.isCleared ? path[..<start] : nil
    while start < path.endIndex {
      let end = OverlayLocation.end(ofKeyAt: start, in: path)
      guard let next = location.below[path[start..<end]] else { return (nil, cleared) }
      location = next
      start = end
      if next.isCleared, cleared == nil { cleared = path[..<end] }
    }
    return (location, cleared)
  }

  private func hasRows(below path: ArraySlice<UInt8>) throws -> Bool {
    let (location, cleared) = find(path)
    if location?.hasRowsBelow == true { return true }
    guard cleared == nil else { return false }
    let end = RowPath.end(of: path)
    var first = path + [0]
    while true {
      let paths = try table.paths(from: first, before: end)
      guard let last = paths.last else { return false }
      for path in paths {
        let (location, cleared) = find(path[...])
        if cleared == nil, location?.content ?? .untouched == .untouched { return true }
      }
      // Ranges that were removed as a whole need not be read.
      first = find(last[...]).cleared.map { RowPath.end(of: $0) } ?? last[...] + [0]
    }
  }

  // MARK: Changing

  /// The location of a path, created where it is missing.
  private func location(_ path: ArraySlice<UInt8>) -> OverlayLocation {
    var location = root
    var start = path.startIndex
    while start < path.endIndex {
      let end = OverlayLocation.end(ofKeyAt: start, in: path)
      let next = location.below[path[start..<end]] ?? OverlayLocation()
      location.below[path[start..<end]] = next
      location = next
      start = end
    }
    return location
  }

  package func insert(_ node: Node, at path: ArraySlice<UInt8>) throws {
    location(path).content = .row(try NodeRow.encode(node, key: path))
  }

  package func replace(_ node: Node, at path: ArraySlice<UInt8>) throws {
    try insert(node, at: path)
  }

  package func insert(branchPriority: LeafValue, at path: ArraySlice<UInt8>) throws {
    location(path).content = .row(try NodeRow.encode(branchPriority: branchPriority, key: path))
  }

  package func insertWhereRowsAreBelow(
    branchPriority: LeafValue,
    at path: ArraySlice<UInt8>
  ) throws {
    if try hasRows(below: path) { try insert(branchPriority: branchPriority, at: path) }
  }

  package func remove(_ path: ArraySlice<UInt8>) { location(path).content = .removed }

  package func removeAll(from path: ArraySlice<UInt8>) {
    let location = location(path)
    location.content = .untouched
    location.isCleared = true
    location.below = [:]
  }

  package func prune(_ paths: [ArraySlice<UInt8>]) throws {
    for path in paths {
      if try hasRows(below: path) { return }
      remove(path)
    }
  }
}

/// A path with changed rows, or an ancestor of one.
//
// Safety: it stays within the overlay that made it, which is not Sendable.
private final class OverlayLocation {
  enum Content: Equatable {
    case untouched
    case removed
    case row([UInt8])
  }

  var content = Content.untouched
  /// Whether the table's rows here and below were removed, before the changes held in memory.
  var isCleared = false
  /// The children by their keys, each with the slash that follows it.
  var below: [ArraySlice<UInt8>: OverlayLocation] = [:]

  /// The end of the key that begins at an index, including the slash that follows it.
  static func end(ofKeyAt start: Int, in path: ArraySlice<UInt8>) -> Int {
    path[start...].firstIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? path.endIndex
  }

  var hasRowsBelow: Bool {
    below.values.contains { location in
      if case .row = location.content { return true }
      return location.hasRowsBelow
    }
  }

  /// Visits the changes here and below, in row order.
  func forEachEdit(at path: [UInt8], _ body: (RowMerge.Edit) -> Void) {
    if isCleared { body(RowMerge.Edit(path: path, change: .removeAll)) }
    switch content {
    case .untouched: break
    case .removed: body(RowMerge.Edit(path: path, change: .remove))
    case .row(let value): body(RowMerge.Edit(path: path, change: .put(value)))
    }
    for (key, location) in below.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      location.forEachEdit(at: path + key, body)
    }
  }
}

/// Merges the rows of a table, while they are read, with changes to them.
package struct RowMerge {
  /// A change of one row, or of a path and everything below it.
  struct Edit {
    enum Change {
      case removeAll
      case remove
      case put([UInt8])
    }

    let path: [UInt8]
    let change: Change
  }

  private let edits: [Edit]
  private var position = 0
  /// Rows before this path have been removed as part of a range.
  private var removedEnd: ArraySlice<UInt8> = []
  private var chunk = NodeRows()

  fileprivate init(_ edits: [Edit]) { self.edits = edits }

  /// Merges the next row of the table, whose path is greater than those of all earlier rows.
  ///
  /// The body receives the merged rows whenever a chunk is full.
  package mutating func add(
    path: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer,
    to body: (NodeRows) throws -> Void
  ) throws {
    var isReplaced = false
    while position < edits.count, !path.lexicographicallyPrecedes(edits[position].path) {
      let edit = edits[position]
      position += 1
      if case .removeAll = edit.change {
        let end = RowPath.end(of: edit.path[...])
        if removedEnd.lexicographicallyPrecedes(end) { removedEnd = end }
      } else if path.elementsEqual(edit.path) {
        isReplaced = true
      }
      try put(edit, to: body)
    }
    guard !isReplaced, !path.lexicographicallyPrecedes(removedEnd) else { return }
    try append(path, value: value, to: body)
  }

  /// Emits the remaining rows, after the last row of the table.
  package mutating func finish(to body: (NodeRows) throws -> Void) throws {
    while position < edits.count {
      try put(edits[position], to: body)
      position += 1
    }
    if !chunk.isEmpty { try body(chunk) }
    chunk = NodeRows()
  }

  private mutating func put(_ edit: Edit, to body: (NodeRows) throws -> Void) throws {
    guard case .put(let value) = edit.change else { return }
    try edit.path.withUnsafeBytes { path in
      try value.withUnsafeBytes { try append(path, value: $0, to: body) }
    }
  }

  private mutating func append(
    _ path: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer,
    to body: (NodeRows) throws -> Void
  ) throws {
    chunk.append(path: path, value: value)
    guard chunk.isFull else { return }
    try body(chunk)
    chunk = NodeRows()
  }
}
