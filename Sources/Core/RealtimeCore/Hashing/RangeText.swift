/// The text that the hash of one range of a node is made of, leaf by leaf in path order.
struct RangeText {
  private var bytes: [UInt8] = []
  /// The keys whose parentheses are open.
  private var open: [ChildKey] = []
  /// The length so far, in UTF-16 code units.
  private(set) var length = 0
  /// The path of the last leaf.
  var lastPath: Path { Path(open) }

  var isEmpty: Bool { bytes.isEmpty }

  /// Adds a leaf that comes after all others.
  mutating func append(_ leaf: Node, at keys: [ChildKey]) {
    if bytes.isEmpty {
      append("(")
      open = []
    } else {
      let shared = zip(open, keys).prefix { $0.0 == $0.1 }.count
      append(String(repeating: ")", count: open.count - shared))
      open.removeLast(open.count - shared)
      append(",")
    }
    for key in keys[open.count...] {
      appendQuoted(key.text)
      append(":(")
      open.append(key)
    }
    if let priority = leaf.priority {
      append("priority:")
      append(priority)
      append(":")
    }
    if let value = leaf.leafValue { append(value) }
  }

  /// Ends the range; gives its hash, empty for a range without leaves.
  mutating func finish() -> String {
    if bytes.isEmpty { return "" }
    append(String(repeating: ")", count: open.count + 1))
    let hash = Base64.encode(SHA1.digest(of: bytes))
    self = RangeText()
    return hash
  }

  private mutating func append(_ text: String) {
    bytes.append(contentsOf: text.utf8)
    length += text.utf16.count
  }

  private mutating func appendQuoted(_ text: String) {
    append("\"")
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        bytes.append(UInt8(ascii: "\\"))
        length += 1
      }
      bytes.append(byte)
    }
    length += text.utf16.count
    append("\"")
  }

  private mutating func append(_ value: LeafValue) {
    switch value {
    case .bool(let value): append(value ? "boolean:true" : "boolean:false")
    case .integer(let value): appendNumber(Double(value))
    case .double(let value): appendNumber(value)
    case .string(let value):
      append("string:")
      appendQuoted(value)
    case .deferred(let value):
      append("deferred:")
      append(value.json.text)
    }
  }

  private mutating func appendNumber(_ value: Double) {
    let digits = String(value.bitPattern, radix: 16)
    append("number:" + String(repeating: "0", count: 16 - digits.utf8.count) + digits)
  }
}
