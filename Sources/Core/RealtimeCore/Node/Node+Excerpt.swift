extension Node {
  /// Writes the node in export form as far as that goes: what comes after the limit is left out.
  ///
  /// - Parameters:
  ///   - writer: What takes the JSON, which ends anywhere if the node is larger.
  ///   - limit: How many bytes the writer should have at least before anything is left out.
  /// - Complexity: O(limit), whatever the size
  package func write(to writer: inout JSONWriter, limit: Int) {
    switch self {
    case .empty: writer.raw("null")
    case .leaf(let value, nil): value.write(to: &writer, limit: limit)
    case .leaf(let value, let priority?):
      writer.raw("{\".value\":")
      value.write(to: &writer, limit: limit)
      writer.raw(",\".priority\":")
      priority.value.write(to: &writer, limit: limit)
      writer.raw("}")
    case .children(let children):
      if let packed = children.packed { return packed.write(to: &writer) }
      children.write(to: &writer, limit: limit)
    }
  }

  /// About how many bytes the node takes with all that is below it, counted no further than a limit.
  ///
  /// - Returns: More than the limit if it is larger.
  /// - Complexity: O(limit), whatever the size
  package func byteCount(upTo limit: Int) -> Int {
    switch self {
    case .empty: 0
    case .leaf(let value, let priority): value.byteCount + (priority?.value.byteCount ?? 0)
    case .children(let children): children.byteCount(upTo: limit)
    }
  }
}

extension NodeChildren {
  fileprivate func write(to writer: inout JSONWriter, limit: Int) {
    writer.raw("{")
    var isFirst = true
    for (key, child) in map {
      guard writer.bytes.count <= limit else { return }
      if !isFirst { writer.raw(",") }
      isFirst = false
      writer.write(key)
      writer.raw(":")
      child.write(to: &writer, limit: limit)
    }
    if let priority {
      writer.raw(",\".priority\":")
      priority.value.write(to: &writer, limit: limit)
    }
    writer.raw("}")
  }

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
  /// Writes the leaf, of a long text only the beginning.
  fileprivate func write(to writer: inout JSONWriter, limit: Int) {
    let room = max(1, limit + 1 - writer.bytes.count)
    guard case .string(var text) = self, text.utf8.count > room else {
      return write(to: &writer)
    }
    text.withUTF8 { writer.write(text: UnsafeBufferPointer(rebasing: $0[..<room])) }
  }

  /// About how many bytes the leaf takes.
  fileprivate var byteCount: Int {
    switch self {
    case .bool, .integer, .double: 8
    case .string(let text): 16 + text.utf8.count
    case .deferred(.unknown(let text)): 16 + text.utf8.count
    case .deferred: 16
    }
  }
}
