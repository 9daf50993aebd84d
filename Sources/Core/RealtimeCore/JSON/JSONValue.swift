/// A JSON value that preserves the order of members.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A whole number within 64 bits.
  case integer(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  /// Named members, in the order of the text; if a name occurs twice, the later member counts.
  case object([JSONMember])
}

package struct JSONMember: Hashable, Sendable {
  /// The name, unescaped.
  package var name: String
  package var value: JSONValue

  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }
}

extension JSONValue {
  /// An object with these members, except those without a value.
  package static func object(_ pairs: (String, JSONValue?)...) -> JSONValue {
    .object(pairs.compactMap { name, value in value.map { JSONMember(name, $0) } })
  }

  /// The value of an object's member with this name, compared by code units, or nil.
  ///
  /// - Complexity: O(members)
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { CodeUnits.areEqual($0.name, name) }?.value
  }

  package var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  package var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .double(let value): Int64(exactly: value)
    case .null, .bool, .string, .array, .object: nil
    }
  }

  package var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  package var members: [JSONMember]? {
    if case .object(let members) = self { members } else { nil }
  }

  package var elements: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The value as compact JSON text.
  ///
  /// - Complexity: O(size)
  package var text: String {
    var writer = JSONWriter()
    writer.write(self)
    return writer.text
  }

  /// The value as compact JSON text with the members of every object sorted by name.
  ///
  /// - Complexity: O(size · log members)
  package var canonicalText: String {
    var writer = JSONWriter()
    writer.write(sorted)
    return writer.text
  }

  private var sorted: JSONValue {
    switch self {
    case .null, .bool, .integer, .double, .string: self
    case .array(let elements): .array(elements.map(\.sorted))
    case .object(let members):
      .object(
        members.map { JSONMember($0.name, $0.value.sorted) }
          .sorted { CodeUnits.precedes($0.name, $1.name) }
      )
    }
  }
}

/// Parses UTF-8 JSON text strictly, and to a limited depth.
package enum JSONParser {
  /// Parses a whole text as one value.
  ///
  /// - Throws: ``JSONError`` with the reason and the offset.
  /// - Complexity: O(bytes)
  package static func parse(
    _ bytes: some Collection<UInt8>,
    depthLimit: Int = Limits.jsonDepth
  ) throws(JSONError) -> JSONValue {
    let result: Result<JSONValue, JSONError>? = bytes.withContiguousStorageIfAvailable {
      parse($0, depthLimit: depthLimit)
    }
    return try
      (result ?? Array(bytes).withUnsafeBufferPointer { parse($0, depthLimit: depthLimit) })
      .get()
  }

  /// Parses a whole text as one value.
  ///
  /// - Throws: ``JSONError`` with the reason and the offset.
  /// - Complexity: O(length)
  package static func parse(_ text: String) throws(JSONError) -> JSONValue {
    try parse(text.utf8)
  }

  private static func parse(
    _ source: UnsafeBufferPointer<UInt8>,
    depthLimit: Int
  ) -> Result<JSONValue, JSONError> {
    var scanner = JSONScanner(source, depthLimit: depthLimit)
    do throws(JSONError) {
      let value = try scanner.value()
      try scanner.finish()
      return .success(value)
    } catch {
      return .failure(error)
    }
  }
}

extension JSONParser {
  /// A text with `\uFFFD` in the place of each escape for half of a surrogate pair.
  ///
  /// - Complexity: O(bytes)
  static func replacingLoneSurrogates(in text: [UInt8]) -> [UInt8] {
    func unit(at position: Int) -> UInt16? {
      guard position + 6 <= text.count, text[position] == UInt8(ascii: "\\"),
        text[position + 1] == UInt8(ascii: "u")
      else { return nil }
      let digits = text[(position + 2)..<(position + 6)]
      return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }
    var result = text
    var position = 0
    while let next = text[position...].firstIndex(of: UInt8(ascii: "\\")) {
      guard let half = unit(at: next), UTF16.isSurrogate(half) else {
        position = min(next + 2, text.count)
        continue
      }
      if UTF16.isLeadSurrogate(half), unit(at: next + 6).map(UTF16.isTrailSurrogate) == true {
        position = next + 12
      } else {
        result.replaceSubrange(next..<(next + 6), with: "\\uFFFD".utf8)
        position = next + 6
      }
    }
    return result
  }
}

extension JSONScanner {
  mutating func value(depth: Int = 0) throws(JSONError) -> JSONValue {
    switch try start(depth: depth) {
    case .object: return try object(depth: depth)
    case .array: return try array(depth: depth)
    case .string: return .string(try string())
    case .yes: return .bool(true)
    case .no: return .bool(false)
    case .null: return .null
    case .number:
      switch try number() {
      case .integer(let value): return .integer(value)
      case .double(let value): return .double(value)
      }
    }
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
    var members: [JSONMember] = []
    if endsAtOnce(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      let name = try name()
      members.append(JSONMember(name, try value(depth: depth + 1)))
    } while try continues(UInt8(ascii: "}"), in: "an object")
    return .object(members)
  }

  private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
    var elements: [JSONValue] = []
    if endsAtOnce(UInt8(ascii: "]")) { return .array(elements) }
    repeat {
      elements.append(try value(depth: depth + 1))
    } while try continues(UInt8(ascii: "]"), in: "an array")
    return .array(elements)
  }
}
