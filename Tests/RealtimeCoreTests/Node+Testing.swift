import RealtimeCore
import TestSupport

extension Node {
  /// Parses a node from JSON text in export or value form.
  init(text: String) throws {
    try self.init(json: JSONParser.parse(text))
  }

  var exportText: String { json(.export).text }

  var childNames: [String] { children?.map.map(\.key.text) ?? [] }

  /// A random node with all kinds of leaves, with priorities, and at most this many levels of
  /// children.
  static func random(depth: Int, using random: inout SplitMix64) -> Node {
    let priority: LeafValue? =
      Int.random(in: 0..<4, using: &random) == 0 ? randomPriority(using: &random) : nil
    guard depth > 0, Int.random(in: 0..<3, using: &random) > 0 else {
      return .leaf(randomLeaf(using: &random), priority: Priority(priority))
    }
    var node = Node.empty
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let child = Node.random(depth: depth - 1, using: &random)
      node.update(at: Path([randomKey(using: &random)]), to: child)
    }
    return node.withPriority(priority)
  }

  static func randomKey(using random: inout SplitMix64) -> ChildKey {
    let texts = [
      "a", "b", "é", "e\u{301}", "🐵", "\u{E000}", "0", "1", "01", "10", "-1", "k 1", "ﬀ",
    ]
    return ChildKey(texts[Int.random(in: 0..<texts.count, using: &random)])
  }

  static func randomLeaf(using random: inout SplitMix64) -> LeafValue {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: .bool(Bool.random(using: &random))
    case 1: .integer(Int64.random(in: -3...3, using: &random))
    case 2: .integer(Int64(bitPattern: random.next()))
    case 3: .double(Double.random(in: -2...2, using: &random) + 0.000_001)
    case 4: .double(1e300)
    case 5: .string("")
    case 6: .string(randomKey(using: &random).text)
    default: .string("line\n\"quoted\" \\ \u{0}\u{7F} \u{2028}")
    }
  }

  private static func randomPriority(using random: inout SplitMix64) -> LeafValue {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: .integer(Int64.random(in: -2...2, using: &random))
    case 1: .double(0.5)
    default: .string(randomKey(using: &random).text)
    }
  }
}
