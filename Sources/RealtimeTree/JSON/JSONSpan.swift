/// A value within JSON text that has been found but not read yet.
///
/// Valid only as long as the closure runs that was handed the text.
package struct JSONSpan {
  private let source: UnsafeBufferPointer<UInt8>
  private let range: Range<Int>

  init(_ source: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    self.source = source
    self.range = range
  }

  private var scanner: JSONScanner {
    JSONScanner(source, range, depthLimit: Limits.jsonDepth)
  }

  /// Reads the value as data for a tree, without making a JSON value first.
  ///
  /// - Throws: ``NodeParserError`` when it is no JSON, or no data.
  /// - Complexity: O(bytes), for children out of order O(n log n)
  package func node() throws(NodeParserError) -> Node {
    try NodeParser.parse(scanner)
  }

  /// Reads the value.
  ///
  /// - Throws: ``JSONError`` with the reason and the place in the whole text.
  /// - Complexity: O(bytes)
  package func json() throws(JSONError) -> JSONValue {
    var scanner = scanner
    let value = try scanner.value()
    try scanner.finish()
    return value
  }
}

extension JSONParser {
  /// Reads a text, all but the value at the end of a chain of member names, which is set aside.
  ///
  /// - Parameters:
  ///   - source: UTF-8 text.
  ///   - names: The names of nested members, from the outermost; at least one.
  /// - Returns: The value without that member, and the member's value if there is one.
  /// - Throws: ``JSONError`` with the reason and the place; what is set aside is not checked.
  /// - Complexity: O(bytes)
  package static func parse(
    _ source: UnsafeBufferPointer<UInt8>,
    settingAside names: [String]
  ) throws(JSONError) -> (value: JSONValue, aside: JSONSpan?) {
    var scanner = JSONScanner(source, depthLimit: Limits.jsonDepth)
    var aside: Range<Int>?
    let value = try scanner.value(settingAside: names[...], &aside, depth: 0)
    try scanner.finish()
    return (value, aside.map { JSONSpan(source, $0) })
  }
}

extension JSONScanner {
  fileprivate mutating func value(
    settingAside names: ArraySlice<String>,
    _ aside: inout Range<Int>?,
    depth: Int
  ) throws(JSONError) -> JSONValue {
    aside = nil
    guard let wanted = names.first, nextIsObject else { return try value(depth: depth) }
    _ = try start(depth: depth)
    var members: [JSONMember] = []
    if endsAtOnce(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      let name = try name()
      if name != wanted {
        members.append(JSONMember(name, try value(depth: depth + 1)))
      } else if names.count > 1 {
        let inner = try value(settingAside: names.dropFirst(), &aside, depth: depth + 1)
        members.append(JSONMember(name, inner))
      } else {
        aside = try skipValue()
      }
    } while try continues(UInt8(ascii: "}"), in: "an object")
    return .object(members)
  }
}
