/// A value within packed children.
///
// Safety: that of `PackedEntry`.
struct PackedValue {
  let source: UnsafeRawBufferPointer
  let start: Int

  init(_ source: UnsafeRawBufferPointer, at start: Int) {
    self.source = source
    self.start = start
  }

  var tag: PackedTag { PackedTag(rawValue: source[start]) ?? .no }

  private var length: Int { Int(source[start + 1]) | Int(source[start + 2]) << 8 }

  /// Where the next entry begins.
  var end: Int {
    switch tag {
    case .no, .yes: start + 1
    case .small: start + 2
    case .integer, .double: start + 9
    case .string, .children: start + 3 + length
    }
  }

  /// The whole number that this is, if its tag says so.
  var integer: Int64 {
    tag == .small ? Int64(Int8(bitPattern: source[start + 1])) : Int64(bitPattern: word)
  }

  /// The number that this is, if its tag says so.
  var double: Double { Double(bitPattern: word) }

  private var word: UInt64 {
    UInt64(littleEndian: source.loadUnaligned(fromByteOffset: start + 1, as: UInt64.self))
  }

  /// The text, or the packed children, that this is, if its tag says so.
  var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: source[contentRange]) }

  /// Where that text, or those children, are.
  var contentRange: Range<Int> { (start + 3)..<(start + 3 + length) }

  /// The value as a node.
  var node: Node {
    switch tag {
    case .no: .bool(false)
    case .yes: .bool(true)
    case .small, .integer: .integer(integer)
    case .double: .leaf(.double(double))
    case .string: .string(String(decoding: content, as: UTF8.self))
    case .children: .children(NodeChildren(PackedChildren(bytes: Array(content))))
    }
  }
}
