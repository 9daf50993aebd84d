/// Reads JSON text member by member, so that each part becomes at once what it is wanted as.
///
/// An object is walked by ``startObject()`` and then ``nextName()`` until that gives nil; each name is
/// followed by reading or skipping its value:
///
///     try reader.startObject()
///     while let name = try reader.nextName() {
///       if name == .letter("n") { number = try reader.value().integer } else { _ = try reader.value() }
///     }
///
/// Valid only as long as the closure runs that was handed the text.
package struct JSONReader {
  private var scanner: JSONScanner
  private let source: UnsafeBufferPointer<UInt8>
  private var depth = 0
  /// Whether an object has just been opened.
  private var isAtStart = false

  /// Starts at the beginning of UTF-8 text, of which no deeper nesting is followed than to a limit.
  package init(_ source: UnsafeBufferPointer<UInt8>, depthLimit: Int = Limits.jsonDepth) {
    self.source = source
    scanner = JSONScanner(source, depthLimit: depthLimit)
  }

  /// Whether the value that comes next is an object.
  package var nextIsObject: Bool { scanner.nextIsObject }

  /// Steps into the object that comes next.
  ///
  /// - Throws: ``JSONError`` when something else comes.
  package mutating func startObject() throws(JSONError) {
    guard nextIsObject else { throw scanner.error("expected an object") }
    _ = try scanner.start(depth: depth)
    depth += 1
    isAtStart = true
  }

  /// Reads the name of the next member, or steps out of the object and gives nil.
  ///
  /// - Throws: ``JSONError`` with the reason and the place.
  package mutating func nextName() throws(JSONError) -> Name? {
    let hasMore: Bool
    if isAtStart {
      isAtStart = false
      hasMore = !scanner.endsAtOnce(UInt8(ascii: "}"))
    } else {
      hasMore = try scanner.continues(UInt8(ascii: "}"), in: "an object")
    }
    guard hasMore else {
      depth -= 1
      return nil
    }
    if let letter = try scanner.letterName() { return .letter(letter) }
    return .text(try scanner.name())
  }

  /// The name of a member.
  package enum Name: Equatable {
    /// One letter, as most names in messages are.
    case letter(Unicode.Scalar)
    /// Anything else.
    case text(String)

    /// The name as text.
    package var text: String {
      switch self {
      case .letter(let letter): String(letter)
      case .text(let text): text
      }
    }
  }

  /// Reads a value of any kind.
  ///
  /// - Throws: ``JSONError`` with the reason and the place.
  /// - Complexity: O(bytes)
  package mutating func value() throws(JSONError) -> JSONValue {
    try scanner.value(depth: depth)
  }

  /// Reads a string; nil, and the value is passed over, when another kind comes.
  ///
  /// - Throws: ``JSONError`` with the reason and the place.
  package mutating func string() throws(JSONError) -> String? {
    if let text = scanner.unescapedString() { return String(decoding: text, as: UTF8.self) }
    return try value().string
  }

  /// Reads a path from a string; nil, and the value is passed over, when another kind comes.
  ///
  /// - Throws: ``JSONError`` with the reason and the place.
  package mutating func path() throws(JSONError) -> Path? {
    if let text = scanner.unescapedString() { return Path(validUTF8: text) }
    guard let text = try value().string else { return nil }
    return Path(wire: text)
  }

  /// Reads a value as data for a tree, without making a JSON value first.
  ///
  /// - Returns: The data, or why the value is none; and the place of the value.
  /// - Throws: ``JSONError`` with the reason and the place.
  /// - Complexity: O(bytes), for children out of order O(n log n)
  package mutating func node() throws(JSONError) -> (Result<Node, NodeError>, JSONSpan) {
    let start = scanner.position
    let node = try NodeParser.parse(&scanner)
    return (node, JSONSpan(source, start..<scanner.position, depthLimit: scanner.depthLimit))
  }

  /// Steps over a value, which is checked when the span that stands for it is read.
  ///
  /// - Throws: ``JSONError`` when the text ends before the value.
  /// - Complexity: O(bytes)
  package mutating func skip() throws(JSONError) -> JSONSpan {
    JSONSpan(source, try scanner.skipValue(), depthLimit: scanner.depthLimit)
  }

  /// Makes sure that nothing but white space is left.
  ///
  /// - Throws: ``JSONError`` when there is more.
  package mutating func finish() throws(JSONError) {
    try scanner.finish()
  }
}
