/// Walks packed children.
///
// Safety: that of `PackedEntry`.
struct PackedCursor {
  private let source: UnsafeRawBufferPointer
  private var position: Int
  private let end: Int

  init(_ source: UnsafeRawBufferPointer) {
    self.source = source
    position = 1
    end = source.count
  }

  mutating func next() -> PackedEntry? {
    guard position < end else { return nil }
    let entry = PackedEntry(source, at: position)
    position = entry.end
    return entry
  }
}
