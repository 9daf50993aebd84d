/// Reads JSON text member by member, so that each value is decoded directly into its final type.
///
/// To read an object, call ``startsObject()`` and then ``nextName()`` until it returns nil. After
/// each name, read or skip its value:
///
///     guard try reader.startsObject() else { return }
///     while let name = try reader.nextName() {
///       if name == .letter("n") { number = try reader.value().integer } else { _ = try reader.value() }
///     }
///
/// A reader is valid only while the closure runs to which the text was lent.
package struct JSONReader {
  private var scanner: JSONScanner
  private var depth = 0
  /// Whether no member of the current object has been read yet.
  private var isAtStart = false

  /// Makes a reader that starts at the beginning of UTF-8 text.
  package init(_ source: UnsafeBufferPointer<UInt8>, depthLimit: Int = Limits.jsonDepth) {
    scanner = JSONScanner(source, depthLimit: depthLimit)
  }

  /// Enters the next value if it is an object; else skips it and returns false.
  package mutating func startsObject() throws(JSONError) -> Bool {
    guard scanner.nextIsObject else {
      _ = try value()
      return false
    }
    _ = try scanner.start(depth: depth)
    depth += 1
    isAtStart = true
    return true
  }

  /// Reads the name of the next member, or leaves the object and returns nil.
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

  package enum Name: Equatable {
    /// A single lowercase letter, like most names in messages.
    case letter(Unicode.Scalar)
    case text(String)

    package var text: String {
      switch self {
      case .letter(let letter): String(letter)
      case .text(let text): text
      }
    }
  }

  /// Reads a value of any kind.
  ///
  /// - Throws: ``JSONError`` with the reason and the offset.
  /// - Complexity: O(bytes)
  package mutating func value() throws(JSONError) -> JSONValue {
    try scanner.value(depth: depth)
  }

  /// Reads a string; skips a value of another kind and returns nil.
  package mutating func string() throws(JSONError) -> String? {
    if let text = scanner.unescapedString() { return String(decoding: text, as: UTF8.self) }
    return try value().string
  }

  /// Reads a path from a string; skips a value of another kind and returns nil.
  package mutating func path() throws(JSONError) -> Path? {
    if let text = scanner.unescapedString() { return Path(validUTF8: text) }
    guard let text = try value().string else { return nil }
    return Path(wire: text)
  }

  /// Reads a value directly as a node.
  ///
  /// - Returns: The node, or the reason why the value is not valid data, and the span of the value.
  /// - Throws: ``JSONError`` with the reason and the offset.
  /// - Complexity: O(bytes); O(n log n) for children out of order
  package mutating func node() throws(JSONError) -> (Result<Node, NodeError>, JSONSpan) {
    let start = scanner.position
    let node = try NodeParser.parse(&scanner)
    return (node, span(start..<scanner.position))
  }

  /// Skips a value without validating it; reading the returned span validates it.
  ///
  /// - Throws: ``JSONError`` if the text ends before the value does.
  /// - Complexity: O(bytes)
  package mutating func skip() throws(JSONError) -> JSONSpan {
    let range = try scanner.skipValue()
    return span(range)
  }

  private func span(_ range: Range<Int>) -> JSONSpan {
    JSONSpan(scanner: JSONScanner(scanner.source, range: range, depthLimit: scanner.depthLimit))
  }

  /// Checks that only white space is left.
  package mutating func finish() throws(JSONError) {
    try scanner.finish()
  }
}

/// A value within JSON text that has been located but not parsed.
///
/// A span is valid only while the closure runs to which the text was lent.
package struct JSONSpan {
  let scanner: JSONScanner

  /// Parses the value directly as a node.
  ///
  /// - Throws: ``NodeError`` if it is not valid JSON or not valid data.
  /// - Complexity: O(bytes); O(n log n) for children out of order
  package func node() throws(NodeError) -> Node {
    var scanner = scanner
    let result: Result<Node, NodeError>
    do throws(JSONError) {
      result = try NodeParser.parse(&scanner)
      try scanner.finish()
    } catch {
      throw NodeError(description: error.description)
    }
    return try result.get()
  }

  /// Parses the value.
  ///
  /// - Throws: ``JSONError`` with the reason and the offset in the whole text.
  /// - Complexity: O(bytes)
  package func json() throws(JSONError) -> JSONValue {
    var scanner = scanner
    let value = try scanner.value()
    try scanner.finish()
    return value
  }
}
