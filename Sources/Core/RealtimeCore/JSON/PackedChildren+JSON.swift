extension PackedChildren {
  /// Writes the children as an object, straight from their bytes.
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
