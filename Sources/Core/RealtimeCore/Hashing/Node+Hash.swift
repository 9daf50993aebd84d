extension Node {
  /// The "V1" hash of the protocol: equal data have equal hashes, on both ends; empty text for no data.
  ///
  /// - Complexity: O(size)
  package var hash: String {
    if isEmpty { return "" }
    var text: [UInt8] = []
    appendHashText(to: &text)
    return Base64.encode(SHA1.digest(of: text))
  }

  private func appendHashText(to text: inout [UInt8]) {
    if let priority {
      text.append(contentsOf: "priority:".utf8)
      priority.appendHashText(to: &text)
      text.append(UInt8(ascii: ":"))
    }
    switch self {
    case .empty: return
    case .leaf(let value, _): value.appendHashText(to: &text)
    case .children(let children):
      if children.prioritizedCount == 0 {
        for (key, child) in children.map { Self.append(key, child, to: &text) }
      } else {
        for (key, child) in IndexedNode(self, by: .priority).ascending {
          Self.append(key, child, to: &text)
        }
      }
    }
  }

  private static func append(_ key: ChildKey, _ child: Node, to text: inout [UInt8]) {
    text.append(UInt8(ascii: ":"))
    key.withUTF8 { text.append(contentsOf: $0) }
    text.append(UInt8(ascii: ":"))
    text.append(contentsOf: child.hash.utf8)
  }
}

extension LeafValue {
  fileprivate func appendHashText(to text: inout [UInt8]) {
    switch self {
    case .bool(let value): text.append(contentsOf: (value ? "boolean:true" : "boolean:false").utf8)
    case .integer(let value): Self.appendNumber(Double(value), to: &text)
    case .double(let value): Self.appendNumber(value, to: &text)
    case .string(let value):
      text.append(contentsOf: "string:".utf8)
      text.append(contentsOf: value.utf8)
    case .deferred(let value):
      text.append(contentsOf: "deferred:".utf8)
      text.append(contentsOf: value.json.text.utf8)
    }
  }

  private static func appendNumber(_ value: Double, to text: inout [UInt8]) {
    let digits = String(value.bitPattern, radix: 16)
    text.append(contentsOf: "number:".utf8)
    text.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 16 - digits.utf8.count))
    text.append(contentsOf: digits.utf8)
  }
}
