/// A value within JSON text that has been found but not read yet.
///
/// Valid only as long as the closure runs that was handed the text.
package struct JSONSpan {
  private let source: UnsafeBufferPointer<UInt8>
  private let range: Range<Int>
  private let depthLimit: Int

  init(_ source: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, depthLimit: Int) {
    self.source = source
    self.range = range
    self.depthLimit = depthLimit
  }

  private var scanner: JSONScanner {
    JSONScanner(source, range, depthLimit: depthLimit)
  }

  /// Reads the value as data for a tree, without making a JSON value first.
  ///
  /// - Throws: ``NodeParserError`` when it is no JSON, or no data.
  /// - Complexity: O(bytes), for children out of order O(n log n)
  package func node() throws(NodeParserError) -> Node {
    var scanner = scanner
    let result: Result<Node, NodeError>
    do throws(JSONError) {
      result = try NodeParser.parse(&scanner)
      try scanner.finish()
    } catch {
      throw .syntax(error)
    }
    do throws(NodeError) {
      return try result.get()
    } catch {
      throw .data(error)
    }
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
