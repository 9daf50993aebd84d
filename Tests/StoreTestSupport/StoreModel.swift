package import RealtimeCore
package import RealtimeServer
private import TestSupport

/// The content that a store must have after each of a random sequence of commits.
package struct StoreModel {
  /// The tree after each revision; the index is the revision.
  package private(set) var history: [Node] = [.empty]
  /// The ledger entry of each client.
  package private(set) var ledger: [String: LedgerEntry] = [:]
  private var random: SplitMix64

  /// Creates the model of an empty store.
  package init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  /// The revision of the last commit.
  package var revision: Int64 { Int64(history.count - 1) }
  /// The current tree.
  package var root: Node { history[history.count - 1] }

  /// Creates a batch of a few commits, and applies it to the model.
  package mutating func nextBatch(commits limit: Int = 4) -> CommitBatch {
    var commits: [Commit] = []
    for _ in 0..<Int.random(in: 1...limit, using: &random) {
      var node = root
      let changes = (0..<Int.random(in: 1...4, using: &random)).map { _ in nextChange() }
      for change in changes { node.update(at: change.path, to: change.node) }
      history.append(node)
      commits.append(Commit(revision: revision, timestamp: revision * 10, changes: changes))
    }
    let client = "client \(Int.random(in: 0..<5, using: &random))"
    let entry = LedgerEntry(
      client: client,
      upTo: revision,
      refused: Bool.random(using: &random) ? [revision: .permissionDenied] : [:],
      lastSeen: 1_000
    )
    ledger[client] = entry
    return CommitBatch(commits: commits, ledger: [entry])
  }

  private mutating func nextChange() -> Change {
    let keys = (0..<Int.random(in: 0...4, using: &random)).map { _ in nextKey() }
    let path = Path(keys.isEmpty && Int.random(in: 0..<8, using: &random) > 0 ? [nextKey()] : keys)
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: return Change(path, to: .empty)
    case 2:
      let priority = Bool.random(using: &random) ? Node.leaf(nextPriority()) : .empty
      return Change(path.appending(.priority), to: priority)
    case 3: return Change(path, to: nextNode(depth: 3, width: 12))
    default: return Change(path, to: nextNode(depth: 1, width: 3))
    }
  }

  private mutating func nextKey() -> ChildKey {
    let texts = [
      "a", "a-b", "a!", "a0", "b", "é", "e\u{301}", "🐵", "1", "10", "01", "\u{FFFD}", " ",
    ]
    return ChildKey(texts[Int.random(in: 0..<texts.count, using: &random)])
  }

  private mutating func nextPriority() -> LeafValue {
    Bool.random(using: &random) ? .integer(Int64.random(in: 0...9, using: &random)) : .string("p")
  }

  private mutating func nextNode(depth: Int, width: Int) -> Node {
    let priority = Int.random(in: 0..<4, using: &random) == 0 ? nextPriority() : nil
    guard depth > 0, Int.random(in: 0..<4, using: &random) > 0 else {
      return .leaf(nextLeaf(), priority: Priority(priority))
    }
    var node = Node.empty
    for _ in 0..<Int.random(in: 1...width, using: &random) {
      node.update(at: Path([nextKey()]), to: nextNode(depth: depth - 1, width: width))
    }
    return node.withPriority(priority)
  }

  private mutating func nextLeaf() -> LeafValue {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: .bool(Bool.random(using: &random))
    case 1: .integer(Int64(bitPattern: random.next()))
    case 2: .integer(4)
    case 3: .double(4)
    case 4: .double(-0.0)
    case 5: .double(0.1)
    case 6: .string("")
    case 7: .string("e\u{301} é 🐵 \u{0} \" \\ \u{2028}")
    case 8: .string(String(repeating: "long ", count: Int.random(in: 0...300, using: &random)))
    default: .integer(.min)
    }
  }
}

/// A text that distinguishes nodes that are equal in value but not in kind, such as 4 and 4.0.
package func exactText(_ node: Node) -> String {
  let priority = node.priority.map { "!\(exactText($0))" } ?? ""
  switch node {
  case .empty: return "-"
  case .leaf(let value, _): return exactText(value) + priority
  case .children(let children):
    let members = children.map.map { "\(Array($0.key.text.utf8)):\(exactText($0.value))" }
    return "{\(members.joined(separator: ","))}" + priority
  }
}

private func exactText(_ leaf: LeafValue) -> String {
  switch leaf {
  case .bool(let value): "\(value)"
  case .integer(let value): "i\(value)"
  case .double(let value): "d\(value.bitPattern)"
  case .string(let value): "s\(Array(value.utf8))"
  case .deferred(let value): "v\(value)"
  }
}
