import RealtimeCore

extension JSONCheck {
  /// The parsers that do not build a value of the whole text agree with the one that does.
  static func checkReaders(_ input: [UInt8], _ value: JSONValue?) throws(BrokenProperty) {
    // Only files may begin with a byte order mark.
    let isMarked = input.starts(with: [0xEF, 0xBB, 0xBF])
    let expected = isMarked ? try? JSONParser.parse(Array(input.dropFirst(3))) : value
    for size in [1, 3, max(1, input.count)] {
      let other = tokens(of: input, inChunksOf: size)
      try demand(
        other == expected,
        "in chunks of \(size) the text reads as \(other?.text ?? "nothing")"
      )
    }
    guard let value else { return }
    let wrapped = Array(#"{"d":"#.utf8) + input + Array("}".utf8)
    for isSkipped in [false, true] {
      let node = wrapped.withUnsafeBufferPointer { try? Self.node(in: $0, isSkipped: isSkipped) }
      try demand(node == (try? Node(json: value)), "read as a node the text stands for other data")
    }
  }

  /// The node in the first member of an object, parsed at once or after being skipped.
  private static func node(
    in source: UnsafeBufferPointer<UInt8>,
    isSkipped: Bool
  ) throws -> Node {
    var reader = JSONReader(source)
    _ = try reader.startsObject()
    _ = try reader.nextName()
    let node = try isSkipped ? reader.skip().node() : reader.node().0.get()
    guard try reader.nextName() == nil else { throw JSONReaderError.textAfterValue }
    try reader.finish()
    return node
  }

  private enum JSONReaderError: Error {
    case textAfterValue
  }

  /// The value that the tokens of a text form; nil when it is not JSON.
  private static func tokens(of input: [UInt8], inChunksOf size: Int) -> JSONValue? {
    var rest = input[...]
    var tokenizer = JSONTokenizer {
      defer { rest = rest.dropFirst(size) }
      return Array(rest.prefix(size))
    }
    guard let first = try? tokenizer.next(), let value = self.value(first, &tokenizer),
      hasEnded(&tokenizer)
    else { return nil }
    return value
  }

  private static func hasEnded(_ tokenizer: inout JSONTokenizer) -> Bool {
    do {
      return try tokenizer.next() == nil
    } catch {
      return false
    }
  }

  private static func value(
    _ token: JSONTokenizer.Token,
    _ tokenizer: inout JSONTokenizer
  ) -> JSONValue? {
    switch token {
    case .scalar(let value): return value
    case .arrayStart:
      var elements: [JSONValue] = []
      while let next = try? tokenizer.next(), next != .arrayEnd {
        guard let element = value(next, &tokenizer) else { return nil }
        elements.append(element)
      }
      return .array(elements)
    case .objectStart:
      var members: [JSONMember] = []
      while let next = try? tokenizer.next(), next != .objectEnd {
        guard case .name(let name) = next, let start = try? tokenizer.next(),
          let member = value(start, &tokenizer)
        else { return nil }
        members.append(JSONMember(name, member))
      }
      return .object(members)
    case .name, .objectEnd, .arrayEnd: return nil
    }
  }
}
