/// Why a JSON value is not valid data.
package struct NodeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason, which names the member concerned.
  package let description: String

  package init(description: String) {
    self.description = description
  }
}

/// The values of `.priority`, `.value` and `.sv`, which few objects have.
struct SpecialMembers {
  var priority: LeafValue?
  var value: Node?
  var deferred: DeferredValue?

  /// Why the members cannot be together in one object, or beside a child; nil if they can.
  func problem(beside child: ChildKey?) -> String? {
    var other = child?.text
    let hasValue = value.map { !$0.isEmpty } ?? false
    if deferred != nil {
      other = other ?? (hasValue ? ".value" : priority.map { _ in ".priority" })
    } else if !hasValue {
      return nil
    }
    return other.map { "\(deferred == nil ? ".value" : ".sv") cannot be combined with \($0)" }
  }
}

extension Node {
  /// The two JSON forms of a node.
  package enum JSONForm: Sendable {
    /// Values with priorities, as `.value` and `.priority`; never arrays.
    case export
    /// Values only; children whose keys are mostly 0, 1, 2 … become an array.
    case value
  }

  /// Reads JSON from clients, servers and REST, in either form.
  ///
  /// - Parameter json: A value in export or value form; arrays become children with integer keys.
  /// - Throws: ``NodeError`` if a priority is invalid (see ``priorityValue(_:)``), a `.value` is not
  ///   a leaf, a special member has company that it cannot have, or a name begins with a dot that no
  ///   data can have. Other names are checked only where they have no data and so leave no trace.
  /// - Complexity: O(size · log children)
  package init(json: JSONValue) throws(NodeError) {
    switch json {
    case .null: self = .empty
    case .bool(let value): self = .leaf(.bool(value))
    case .integer(let value): self = .leaf(.integer(value))
    case .double(let value): self = .leaf(LeafValue(number: value))
    case .string(let value): self = .leaf(.string(value))
    case .array(let elements):
      var entries: [(key: ChildKey, value: Node)] = []
      for (index, element) in elements.enumerated() {
        entries.append((ChildKey(String(index)), try Node(json: element)))
      }
      self = Node(sortedChildren: entries)
    case .object(let members): self = try Self.node(of: members)
    }
  }

  private static func node(of members: [JSONMember]) throws(NodeError) -> Node {
    var special = SpecialMembers()
    var entries: [(key: ChildKey, value: Node)] = []
    entries.reserveCapacity(members.count)
    for member in members {
      switch member.name {
      case ".priority": special.priority = try priorityValue(member.value)
      case ".value":
        let node = try Node(json: member.value)
        if node.children != nil { throw NodeError(description: ".value must be a leaf") }
        special.value = node
      case ".sv": special.deferred = special.deferred ?? DeferredValue(json: member.value)
      default:
        let node = try Node(json: member.value)
        if node.isEmpty || member.name.utf8.first == UInt8(ascii: "."),
          let problem = Validation.problem(withKey: member.name)
        {
          throw NodeError(description: problem)
        }
        entries.append((ChildKey(member.name), node))
      }
    }
    if let problem = special.problem(beside: entries.first?.key) {
      throw NodeError(description: problem)
    }
    if let deferred = special.deferred { return .leaf(.deferred(deferred)) }
    if let value = special.value, !value.isEmpty { return value.withPriority(special.priority) }
    return Node(sortedChildren: sorted(entries), priority: special.priority)
  }

  /// Sorts by key; if a key occurs twice, the later entry counts.
  private static func sorted(
    _ entries: [(key: ChildKey, value: Node)]
  ) -> [(key: ChildKey, value: Node)] {
    let isAscending = zip(entries, entries.dropFirst()).allSatisfy { $0.key < $1.key }
    if isAscending { return entries }
    let ordered = entries.enumerated().sorted {
      $0.element.key == $1.element.key
        ? $0.offset < $1.offset : $0.element.key < $1.element.key
    }
    var result: [(key: ChildKey, value: Node)] = []
    result.reserveCapacity(ordered.count)
    for (_, entry) in ordered {
      if let last = result.last, last.key == entry.key { result.removeLast() }
      result.append(entry)
    }
    return result
  }

  /// Reads a priority: null, a number, text or a deferred value.
  package static func priorityValue(_ json: JSONValue) throws(NodeError) -> LeafValue? {
    switch json {
    case .null: return nil
    case .integer(let value): return .integer(value)
    case .double(let value): return LeafValue(number: value)
    case .string(let value): return .string(value)
    case .object:
      if json.members?.count == 1, let deferred = json[".sv"] {
        return .deferred(DeferredValue(json: deferred))
      }
      throw NodeError(description: "a priority must be a number, a string or null")
    case .bool, .array:
      throw NodeError(description: "a priority must be a number, a string or null")
    }
  }

  /// Makes the data at the path of a priority.
  ///
  /// - Throws: ``NodeError`` if it is none; see ``priorityValue(_:)``.
  package init(priority json: JSONValue) throws(NodeError) {
    self = try Self.priorityValue(json).map { .leaf($0) } ?? .empty
  }

  /// The node as a JSON value.
  ///
  /// - Complexity: O(size)
  package func json(_ form: JSONForm) -> JSONValue {
    switch self {
    case .empty: return .null
    case .leaf(let value, let priority):
      guard form == .export, let priority else { return value.json }
      return .object((".value", value.json), (".priority", priority.value.json))
    case .children(let children):
      if form == .value, let elements = children.arrayElements { return .array(elements) }
      var members = children.map.map { JSONMember($0.key.text, $0.value.json(form)) }
      if form == .export, let priority = children.priority {
        members.append(JSONMember(".priority", priority.value.json))
      }
      return .object(members)
    }
  }

  /// Writes the node in export form without creating a JSON value, and stops after a limit.
  ///
  /// - Parameters:
  ///   - writer: Receives the JSON, which may be cut off at any point if the node is larger.
  ///   - limit: The number of bytes in the writer after which content is left out.
  /// - Complexity: O(size), but no more than the limit
  package func write(to writer: inout JSONWriter, limit: Int = .max) {
    switch self {
    case .empty: writer.raw("null")
    case .leaf(let value, let priority):
      guard let priority else { return value.write(to: &writer, limit: limit) }
      writer.raw("{\".value\":")
      value.write(to: &writer, limit: limit)
      writer.raw(",\".priority\":")
      priority.value.write(to: &writer, limit: limit)
      writer.raw("}")
    case .children(let children):
      if let packed = children.packed { return packed.write(to: &writer) }
      writer.raw("{")
      var isFirst = true
      for (key, child) in children.map {
        guard writer.bytes.count <= limit else { return }
        if !isFirst { writer.raw(",") }
        isFirst = false
        writer.write(key)
        writer.raw(":")
        child.write(to: &writer, limit: limit)
      }
      if let priority = children.priority {
        writer.raw(",\".priority\":")
        priority.value.write(to: &writer, limit: limit)
      }
      writer.raw("}")
    }
  }
}

extension NodeChildren {
  /// The children as array elements if all keys are canonical indexes and over half are present.
  fileprivate var arrayElements: [JSONValue]? {
    guard let last = map.last?.key.integer, last >= 0, last < 2 * Int64(count) else { return nil }
    var elements = [JSONValue](repeating: .null, count: Int(last) + 1)
    for (key, node) in map {
      guard let index = key.integer, index >= 0, key.text == String(index) else { return nil }
      elements[Int(index)] = node.json(.value)
    }
    return elements
  }
}

extension LeafValue {
  package var json: JSONValue {
    switch self {
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .deferred(let value): .object((".sv", value.json))
    }
  }

  /// Writes the leaf, or only the beginning of a text that goes beyond a limit.
  fileprivate func write(to writer: inout JSONWriter, limit: Int) {
    switch self {
    case .bool(let value): value ? writer.raw("true") : writer.raw("false")
    case .integer(let value): writer.write(value)
    case .double(let value): writer.write(value)
    case .string(let text):
      guard limit < .max else { return writer.write(text) }
      let room = max(1, limit + 1 - writer.bytes.count)
      var bytes = text
      bytes.withUTF8 { writer.write(text: UnsafeBufferPointer(rebasing: $0.prefix(room))) }
    case .deferred: writer.write(json)
    }
  }
}

extension DeferredValue {
  /// Reads the value of `.sv`.
  package init(json: JSONValue) {
    if json.string == "timestamp" {
      self = .timestamp
    } else if let members = json.members, members.count == 1, let amount = json["increment"] {
      switch amount {
      case .integer(let value): self = .incrementInteger(value)
      case .double(let value): self = .incrementDouble(value)
      case .null, .bool, .string, .array, .object: self = .unknown(json.text)
      }
    } else {
      self = .unknown(json.text)
    }
  }

  /// The value of `.sv`.
  package var json: JSONValue {
    switch self {
    case .timestamp: .string("timestamp")
    case .incrementInteger(let value): .object(("increment", .integer(value)))
    case .incrementDouble(let value): .object(("increment", .double(value)))
    case .unknown(let text): (try? JSONParser.parse(text)) ?? .null
    }
  }
}

extension PackedChildren {
  /// Writes the children as an object, directly from their bytes.
  ///
  /// - Complexity: O(size)
  func write(to writer: inout JSONWriter) {
    bytes.withUnsafeBytes { writer.write(packed: $0) }
  }
}

extension JSONWriter {
  fileprivate mutating func write(packed source: UnsafeRawBufferPointer) {
    raw("{")
    var cursor = PackedCursor(source)
    var isFirst = true
    while let entry = cursor.next() {
      if !isFirst { raw(",") }
      isFirst = false
      entry.key.withMemoryRebound(to: UInt8.self) { write(text: $0) }
      raw(":")
      write(entry.value)
    }
    raw("}")
  }

  private mutating func write(_ value: PackedValue) {
    switch value.tag {
    case .no: raw("false")
    case .yes: raw("true")
    case .small, .integer: write(value.integer)
    case .double: write(value.double)
    case .string: value.content.withMemoryRebound(to: UInt8.self) { write(text: $0) }
    case .children: write(packed: value.content)
    }
  }
}

// MARK: Size

extension Node {
  /// The approximate number of bytes of the node and its descendants, counted up to a limit.
  ///
  /// - Returns: The number, or any number above the limit if there are more.
  /// - Complexity: O(limit), regardless of the size
  package func byteCount(upTo limit: Int) -> Int {
    switch self {
    case .empty: 0
    case .leaf(let value, let priority): value.byteCount + (priority?.value.byteCount ?? 0)
    case .children(let children): children.byteCount(upTo: limit)
    }
  }
}

extension NodeChildren {
  fileprivate func byteCount(upTo limit: Int) -> Int {
    if let packed { return packed.bytes.count }
    var count = priority?.value.byteCount ?? 0
    for (key, child) in map {
      count += 40 + key.byteCount + child.byteCount(upTo: limit - count)
      if count > limit { break }
    }
    return count
  }
}

extension LeafValue {
  /// The approximate number of bytes of the leaf.
  fileprivate var byteCount: Int {
    switch self {
    case .bool, .integer, .double: 8
    case .string(let text): 16 + text.utf8.count
    case .deferred(.unknown(let text)): 16 + text.utf8.count
    case .deferred: 16
    }
  }
}
