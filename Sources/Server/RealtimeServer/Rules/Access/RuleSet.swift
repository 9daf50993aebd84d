package import RealtimeCore

/// A compiled rules document: who may read and write what, which data is valid, what is indexed.
///
/// It is immutable and can be used on any thread. It knows nothing about administrators: for them,
/// the rules are not evaluated.
package final class RuleSet: Sendable {
  /// The document as it was written.
  package let source: String
  /// Whether there is a document; ``open`` and ``closed`` are used when there is none.
  package let isDocument: Bool
  let top: RuleNode
  let map: SourceMap

  /// Compiles a rules document: JSON, in which comments and multi-line strings are allowed.
  ///
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
    let scalars = Array(source.unicodeScalars)
    self.source = source
    isDocument = true
    map = SourceMap(scalars)
    do throws(RuleProblem) {
      top = try RuleCompiler.compile(DocumentParser.parse(scalars), map: map)
    } catch {
      throw map.error(error)
    }
  }

  /// Compiles a rules document of UTF-8 bytes, as ``init(source:)`` does.
  ///
  /// - Complexity: O(bytes)
  package convenience init(bytes: [UInt8]) throws(RulesError) {
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
        path: [],
        source: String(isOpen),
        position: SourcePosition(line: 1, column: 1),
        expression: .literal(.bool(isOpen))
      )
    }
    source = "{\"rules\": {\".read\": \(isOpen), \".write\": \(isOpen)}}"
    isDocument = false
    top = RuleNode(read: rule(.read), write: rule(.write))
    map = SourceMap([])
  }

  /// Rules that deny everything.
  package static let closed = RuleSet(allowing: false)

  /// Rules that allow everything to everyone, for tests.
  package static let open = RuleSet(allowing: true)

  /// The document without its comments, and with strings in standard JSON.
  ///
  /// - Complexity: O(length)
  package var json: JSONValue {
    (try? DocumentParser.parse(Array(source.unicodeScalars)).json) ?? .null
  }

  /// Whether clients that have not signed in may be able to write anywhere.
  ///
  /// False only if every `.write` certainly requires a signed-in user.
  package var mayLetNobodyWrite: Bool { top.mayLetNobodyWrite }

  /// The indexes that `.indexOn` declares for the children of a location.
  ///
  /// - Complexity: O(depth)
  package func indexes(at path: Path) -> [Index] {
    var node = top
    for key in path.keys {
      guard let child = node.child(key) else { return [] }
      node = child
    }
    return node.indexes
  }

  /// Whether queries by an index are cheap: always by key or priority, otherwise if it is declared.
  ///
  /// - Complexity: O(depth)
  package func isIndexed(_ path: Path, by index: Index) -> Bool {
    switch index {
    case .key, .priority: true
    case .value, .child: indexes(at: path).contains(index)
    }
  }
}

extension RuleSet {
  /// Whether a client may read the result of a query at a location, and the rule that decides it.
  ///
  /// Reading is allowed if any `.read` between the root and the location is true. Rules below the
  /// location are not evaluated. A request that takes more than the limit of steps is denied.
  /// Explaining records all evaluations, which takes longer. The time is in milliseconds since
  /// 1970.
  ///
  /// - Complexity: O(depth), times the cost of the rules, up to the limit of steps
  package func canRead(
    _ path: Path,
    query: Query = .all,
    by subject: RuleSubject,
    now: Int64,
    root: Node,
    steps: Int = RulesLimits.steps,
    explaining: Bool = false
  ) -> Decision {
    // The request borrows from the subject.
    defer { withExtendedLifetime(subject) {} }
    return withUnsafePointer(to: root) { root in
      withUnsafePointer(to: query) { query in
        let request = RuleRequest(
          client: subject.client,
          now: Double(now),
          root: NodeView(root),
          newRoot: nil,
          query: query
        )
        return Inspection.run(of: request, by: self, explaining: explaining, steps: steps) {
          $0.read(path)
        }
      }
    }
  }

  /// Whether a client may make several changes at once, with the first rule that denies, if any.
  ///
  /// For each location, a `.write` between the root and the location must be true, and so must
  /// every `.validate` above, at and below it where there is new data.
  ///
  /// Server values are resolved in the new data, server timestamps to the same time as here, in
  /// milliseconds since 1970. A request that takes more than the limit of steps is denied.
  /// Explaining records all evaluations, which takes longer.
  ///
  /// - Complexity: O(size of the new data where `.validate` rules exist), times the cost of the
  ///   rules, up to the limit of steps
  package func canWrite(
    _ paths: [Path],
    by subject: RuleSubject,
    now: Int64,
    from oldRoot: Node,
    to newRoot: Node,
    steps: Int = RulesLimits.steps,
    explaining: Bool = false
  ) -> Decision {
    defer { withExtendedLifetime(subject) {} }
    return withUnsafePointer(to: oldRoot) { root in
      withUnsafePointer(to: newRoot) { newRoot in
        let request = RuleRequest(
          client: subject.client,
          now: Double(now),
          root: NodeView(root),
          newRoot: NodeView(newRoot)
        )
        return Inspection.run(of: request, by: self, explaining: explaining, steps: steps) {
          $0.write(paths)
        }
      }
    }
  }

  /// Whether a client may replace data, decided before the tree that results is built.
  ///
  /// The location is not that of a priority, and the new data is not empty. Steps, time and server
  /// values are as in ``canWrite(_:by:now:from:to:steps:explaining:)``.
  ///
  /// - Returns: Whether that would allow the tree that results, and whether it took too many steps;
  ///   nil if that must be built, as when a location above is missing or a leaf.
  /// - Complexity: As there.
  package func canReplace(
    _ path: Path,
    by new: Node,
    in root: Node,
    as subject: RuleSubject,
    now: Int64,
    steps: Int = RulesLimits.steps
  ) -> (isAllowed: Bool, isExhausted: Bool)? {
    defer { withExtendedLifetime(subject) {} }
    return withUnsafePointer(to: root) { root in
      let root = NodeView(root)
      var result: (isAllowed: Bool, isExhausted: Bool)?
      // Without a result, since a generic function would not be specialised across modules.
      _ = root.withReplacement(at: path, by: new) { newRoot in
        let request = RuleRequest(
          client: subject.client,
          now: Double(now),
          root: root,
          newRoot: newRoot
        )
        result = Inspection.run(of: request, by: self, explaining: false, steps: steps) {
          let isAllowed = $0.allowsWrite(path)
          return (isAllowed, !isAllowed && $0.isExhausted)
        }
      }
      return result
    }
  }

  /// Whether a client is allowed to write any new data at each of some locations.
  ///
  /// This is checked before the new data is built, which may take much longer. It considers only
  /// what the rules say about current data, time and client. The time is in milliseconds since
  /// 1970. Locations after the first that cannot be written are not checked; beyond the limit of
  /// steps the result is true.
  ///
  /// - Returns: False if ``canWrite(_:by:now:from:to:steps:explaining:)`` would deny all new data.
  /// - Complexity: O(paths · depth), times the cost of the rules, up to the limit of steps
  package func couldWrite(
    _ paths: some Sequence<Path>,
    by subject: RuleSubject,
    now: Int64,
    from root: Node,
    steps: Int = RulesLimits.steps
  ) -> Bool {
    defer { withExtendedLifetime(subject) {} }
    return withUnsafePointer(to: root) { root in
      let request = RuleRequest(
        client: subject.client,
        now: Double(now),
        root: NodeView(root),
        newRoot: nil
      )
      return Inspection.run(of: request, by: self, explaining: false, steps: steps) { inspection in
        for path in paths where !inspection.couldWrite(path) { return false }
        return true
      }
    }
  }
}
