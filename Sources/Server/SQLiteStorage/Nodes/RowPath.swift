import RealtimeCore

/// The bytes of a path in the node table, and of all that lie above it.
struct RowPath {
  /// The bytes of the whole path.
  let bytes: [UInt8]
  /// Where the bytes of each path end, from the root down.
  private let ends: [Int]

  init(_ keys: some Collection<ChildKey>) {
    var bytes: [UInt8] = []
    var ends = [0]
    ends.reserveCapacity(keys.count + 1)
    for key in keys {
      bytes.append(contentsOf: key.text.utf8)
      bytes.append(UInt8(ascii: "/"))
      ends.append(bytes.count)
    }
    self.bytes = bytes
    self.ends = ends
  }

  /// How many keys there are.
  var depth: Int { ends.count - 1 }

  /// The path of the first keys; it is a programmer error to ask for more than there are.
  subscript(depth: Int) -> ArraySlice<UInt8> { bytes[..<ends[depth]] }

  /// The first bytes after all that start with a path.
  static func end(of path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    // No UTF-8 has the byte FF, and the byte after a slash is a zero.
    path.isEmpty ? [0xFF] : (path.dropLast() + [UInt8(ascii: "/") + 1])[...]
  }
}
