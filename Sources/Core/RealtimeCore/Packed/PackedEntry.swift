/// One of the packed children, within their bytes.
///
// Safety: `source` is packed children, made by this module only, so that all lengths are right; an
// entry does not leave the closure that lends it the bytes.
struct PackedEntry {
  let source: UnsafeRawBufferPointer
  /// Where the entry begins, with the length of its key.
  let start: Int
  /// Where the value begins, with its tag.
  let valueStart: Int
  /// Where the next entry begins.
  let end: Int

  init(_ source: UnsafeRawBufferPointer, at start: Int) {
    self.source = source
    self.start = start
    valueStart = start + 1 + Int(source[start])
    end = PackedValue(source, at: valueStart).end
  }

  /// The key in UTF-8.
  var key: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: source[(start + 1)..<valueStart])
  }

  /// The key.
  var childKey: ChildKey { key.withMemoryRebound(to: UInt8.self) { ChildKey(validUTF8: $0) } }

  /// The value.
  var value: PackedValue { PackedValue(source, at: valueStart) }

  /// The value as a node.
  var node: Node { value.node }

  /// The entry of a key, or nil.
  static func find(_ key: ChildKey, in source: UnsafeRawBufferPointer) -> PackedEntry? {
    key.withUTF8 { find(UnsafeRawBufferPointer($0), in: source) }
  }

  /// The same of a key that is text.
  static func find(
    _ text: UnsafeRawBufferPointer,
    in source: UnsafeRawBufferPointer
  ) -> PackedEntry? {
    var position = 1
    while position < source.count {
      let valueStart = position + 1 + Int(source[position])
      if hasKey(text, source, at: position) { return PackedEntry(source, at: position) }
      position = PackedValue(source, at: valueStart).end
    }
    return nil
  }

  private static func hasKey(
    _ text: UnsafeRawBufferPointer,
    _ source: UnsafeRawBufferPointer,
    at start: Int
  ) -> Bool {
    guard Int(source[start]) == text.count else { return false }
    for index in 0..<text.count where source[start + 1 + index] != text[index] { return false }
    return true
  }

  /// Where the entry of an absent key belongs.
  static func place(of key: ChildKey, in source: UnsafeRawBufferPointer) -> Int {
    var cursor = PackedCursor(source)
    while let entry = cursor.next() {
      if key < entry.childKey { return entry.start }
    }
    return source.count
  }
}
