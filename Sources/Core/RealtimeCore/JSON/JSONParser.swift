/// Reads JSON text of UTF-8 bytes, strictly and to a limited depth.
package enum JSONParser {
  /// Reads a whole text as one value.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8 text.
  ///   - depthLimit: The deepest nesting that is followed.
  /// - Returns: The value.
  /// - Throws: ``JSONError`` with the reason and the place.
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

  /// Reads a whole text as one value.
  ///
  /// - Parameter text: The text.
  /// - Returns: The value.
  /// - Throws: ``JSONError`` with the reason and the place.
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

extension JSONScanner {
  /// Reads a value.
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
