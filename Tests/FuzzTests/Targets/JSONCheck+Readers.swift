import RealtimeTree

extension JSONCheck {
  /// The readers that make no value of the whole text agree with the one that does.
  static func checkReaders(_ input: [UInt8], _ value: JSONValue?) throws(BrokenProperty) {
    for size in [1, 3, max(1, input.count)] {
      let other = tokens(of: input, inChunksOf: size)
      try demand(
        other == value,
        "in chunks of \(size) the text reads as \(other?.text ?? "nothing")"
      )
    }
    guard let value else { return }
    let wrapped = Array(#"{"a":1,"d":"#.utf8) + input + Array("}".utf8)
    let node = wrapped.withUnsafeBufferPointer { source -> Node? in
      guard let parts = try? JSONParser.parse(source, settingAside: ["d"]) else { return nil }
      return try? parts.aside?.node()
    }
    try demand(node == (try? Node(json: value)), "set aside, the text stands for other data")
  }

  /// The value that the tokens of a text make up; nil when it is no JSON.
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
