package import RealtimeCore

/// A rules document, compiled: who may read and write what, which data are valid, what is indexed.
///
/// A value without state; compiled once, it may be asked from anywhere. Administrators are not its
/// business: whoever bypasses the rules does not ask them.
package struct RuleSet: Sendable {
  /// The document as it was written.
  package let source: String
  /// Whether someone wrote the document; ``open`` and ``closed`` stand for the lack of one.
  package let isDocument: Bool
  let top: RuleNode
  let map: SourceMap

  /// Compiles a rules document.
  ///
  /// - Parameter source: JSON with comments and strings of several lines.
  /// - Throws: ``RulesError`` with line, column and what was expected.
  /// - Complexity: O(length)
  package init(source: String) throws(RulesError) {
    guard source.utf8.count <= RulesLimits.sourceBytes else {
      throw RulesError(
        line: 1,
        column: 1,
        message: "the rules are longer than \(RulesLimits.sourceBytes) bytes"
      )
    }
    self.source = source
    isDocument = true
    let scalars = Array(source.unicodeScalars)
    map = SourceMap(scalars)
    do throws(RuleProblem) {
      top = try RuleCompiler.compile(DocumentParser.parse(scalars), map)
    } catch {
      throw map.error(error)
    }
  }

  /// Compiles a rules document of UTF-8 bytes.
  ///
  /// - Parameter bytes: JSON with comments and strings of several lines.
  /// - Throws: ``RulesError`` with line, column and what was expected.
  /// - Complexity: O(bytes)
  package init(bytes: [UInt8]) throws(RulesError) {
    guard let source = String(validating: bytes, as: UTF8.self) else {
      throw Self.encodingError(bytes)
    }
    try self.init(source: source)
  }

  private static func encodingError(_ bytes: [UInt8]) -> RulesError {
    var valid: [Unicode.Scalar] = []
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    while case .scalarValue(let scalar) = decoder.decode(&iterator) { valid.append(scalar) }
    return SourceMap(valid).error(
      RuleProblem("expected UTF-8 text; the bytes here are none", at: valid.count)
    )
  }

  private init(allowing isOpen: Bool) {
    func rule(_ kind: RuleKind) -> Rule {
      Rule(
        kind: kind,
        path: "/",
        source: String(isOpen),
        position: SourcePosition(line: 1, column: 1),
        expression: .literal(.bool(isOpen))
      )
    }
    source = "{\"rules\": {\".read\": \(isOpen), \".write\": \(isOpen)}}"
    isDocument = false
    map = SourceMap([])
    top = RuleNode(read: rule(.read), write: rule(.write))
  }

  /// Rules that deny everything.
  package static let closed = RuleSet(allowing: false)

  /// Rules that allow everything to everyone, for tests.
  package static let open = RuleSet(allowing: true)

  /// The document without its comments, and with strings as JSON has them.
  ///
  /// - Complexity: O(length)
  package var json: JSONValue {
    (try? DocumentParser.parse(Array(source.unicodeScalars)).json) ?? .null
  }

  /// Whether who has not signed in may be able to write something somewhere.
  ///
  /// False only where every `.write` shows by itself that it wants to know who asks.
  package var mayLetNobodyWrite: Bool { top.mayLetNobodyWrite }

  /// What `.indexOn` declares for the children of a location.
  ///
  /// - Complexity: O(depth)
  package func indexes(at path: Path) -> [Index] {
    var node = top
    for key in path.keys {
      guard let child = key.withUTF8({ node.child(LeafText($0)) }) else { return [] }
      node = child.node
    }
    return node.indexes
  }

  /// Whether a query by this index is cheap: keys and priorities always are, others when declared.
  ///
  /// - Complexity: O(depth)
  package func isIndexed(_ path: Path, by index: Index) -> Bool {
    switch index {
    case .key, .priority: true
    case .value, .child: indexes(at: path).contains(index)
    }
  }
}
