import RealtimeCore
import TestSupport
import Testing

/// A row of a table of queries: the query object and the keys that it selects.
struct QueryRow: CustomTestStringConvertible {
  let query: String
  let keys: String

  init(_ query: String, _ keys: String) {
    self.query = query
    self.keys = keys
  }

  var testDescription: String { query }
}

@Suite("Query")
struct QueryTests {
  static let data = """
    {"a":{"v":null,"n":1},"b":{"v":false,"n":10},"c":{"v":true,"n":2},"d":{"v":-5},"e":{"v":0},
    "f":{"v":0},"9":{"v":3},"10":{"v":3},"g":{"v":"0"},"h":{"v":"Z"},"i":{"v":"a"},
    "j":{"v":{"x":1}},"m":{"v":{"w":2}},"p":{"z":1},"q":7}
    """

  static let rows = [
    QueryRow(#"{"i":".key"}"#, "9 10 a b c d e f g h i j m p q"),
    QueryRow(#"{"i":".key","sp":"10","sin":true}"#, "10 a b c d e f g h i j m p q"),
    QueryRow(#"{"i":".key","ep":"c","ein":false,"l":2,"vf":"r"}"#, "a b"),
    QueryRow(#"{"i":"v"}"#, "a p q b c d e f 9 10 g h i j m"),
    QueryRow(#"{"i":"v","sp":null,"sin":true,"ep":null,"ein":true}"#, "a p q"),
    QueryRow(#"{"i":"v","sp":0,"sin":true,"ep":0,"ein":true}"#, "e f"),
    QueryRow(#"{"i":"v","sp":0,"sn":"f","sin":true,"ep":0,"en":"f","ein":true}"#, "f"),
    QueryRow(#"{"i":"v","sp":0,"sn":"[MAX_NAME]","sin":false}"#, "9 10 g h i j m"),
    QueryRow(#"{"i":"v","sp":0,"sn":"[MAX_NAME]"}"#, "9 10 g h i j m"),
    QueryRow(#"{"i":"v","sp":0,"sin":false}"#, "9 10 g h i j m"),
    QueryRow(#"{"i":"v","sp":0,"sn":"e","sin":false}"#, "f 9 10 g h i j m"),
    QueryRow(#"{"i":"v","ep":0,"en":"[MIN_NAME]","ein":false}"#, "a p q b c d"),
    QueryRow(#"{"i":"v","ep":0,"en":"[MIN_NAME]"}"#, "a p q b c d"),
    QueryRow(#"{"i":"v","ep":0,"en":"f","ein":false}"#, "a p q b c d e"),
    QueryRow(#"{"i":"v","sp":""}"#, "g h i j m"),
    QueryRow(#"{"i":"v","sp":3}"#, "9 10 g h i j m"),
    QueryRow(#"{"i":"v","sp":5,"sn":"[MAX_NAME]"}"#, "g h i j m"),
    QueryRow(#"{"i":"v","sp":"Z","ep":"a"}"#, "h i"),
    QueryRow(#"{"i":"v","l":3,"vf":"l"}"#, "a p q"),
    QueryRow(#"{"i":"v","l":3,"vf":"r"}"#, "i j m"),
    QueryRow(#"{"i":"v","sp":-5,"l":2,"vf":"r"}"#, "j m"),
    QueryRow(#"{"i":"v","ep":3,"l":2,"vf":"l"}"#, "a p"),
    QueryRow(#"{"i":"v","ep":3,"l":2,"vf":"r"}"#, "9 10"),
    QueryRow(#"{"i":".value"}"#, "q 9 10 a b c d e f g h i j m p"),
    QueryRow(#"{"i":"n"}"#, "9 10 d e f g h i j m p q a c b"),
    QueryRow(#"{"i":"v/x","sp":1}"#, "j"),
    QueryRow(#"{"l":2}"#, "p q"),
    QueryRow(#"{"sp":null,"l":2}"#, "9 10"),
    QueryRow(#"{"l":100,"vf":"l"}"#, "9 10 a b c d e f g h i j m p q"),
    QueryRow(#"{"i":".key","sp":"[MIN_NAME]","ep":"[MAX_NAME]","l":1,"vf":"l"}"#, "9"),
    QueryRow(#"{"i":".key","sp":"d","ep":"b"}"#, ""),
  ]

  static let prioritized = """
    {"a":{".value":1,".priority":2},"b":{".value":1,".priority":2},"c":1,
    "d":{".value":0,".priority":"a"},"e":{".value":0,".priority":"A"},
    "f":{".value":9,".priority":-1},"2":{".value":1,".priority":2}}
    """

  static let prioritizedRows = [
    QueryRow("{}", "c f 2 a b e d"),
    QueryRow(#"{"sp":2}"#, "2 a b e d"),
    QueryRow(#"{"sp":2,"sn":"b"}"#, "b e d"),
    QueryRow(#"{"sp":null,"ep":null}"#, "c"),
    QueryRow(#"{"ep":2}"#, "c f 2 a b"),
    QueryRow(#"{"sp":2,"sn":"a","ep":2,"en":"a"}"#, "a"),
    QueryRow(#"{"sp":"A","sin":true}"#, "e d"),
    QueryRow(#"{"l":2,"vf":"r"}"#, "e d"),
  ]

  @Test("selects the same as official clients", arguments: rows)
  func selection(row: QueryRow) throws {
    try check(row, data: Self.data)
  }

  @Test("selects by priority", arguments: prioritizedRows)
  func priorities(row: QueryRow) throws {
    try check(row, data: Self.prioritized)
  }

  private func check(_ row: QueryRow, data: String) throws {
    let node = try Node(text: data)
    let query = try Query(json: JSONParser.parse(row.query))
    let indexed = IndexedNode(node, by: query.index)
    let selected = query.select(from: indexed).map(\.key.text)
    #expect(selected.joined(separator: " ") == row.keys)
    let result = query.evaluate(node)
    #expect(Set(result.childNames) == Set(selected))
    for key in selected { #expect(result[ChildKey(key)] == node[ChildKey(key)]) }
    if query.limit == nil {
      let contained = indexed.ascending.filter { query.contains($0.key, node: $0.node) }.map(
        \.key.text
      )
      #expect(contained == selected)
    }
  }

  @Test("drops the priority of the location when it filters, and keeps it otherwise")
  func ownPriority() throws {
    let node = try Node(text: #"{"a":1,"b":2,".priority":5}"#)
    #expect(
      Query(limit: Query.Limit(5, side: .first)).evaluate(node).exportText == #"{"a":1,"b":2}"#
    )
    #expect(Query(index: .key).evaluate(node) == node)
  }

  @Test("shares the children with the node when it selects all of them")
  func shared() throws {
    let names = (0..<100).map { "\"c\($0)\":\($0)" }
    let node = try Node(text: "{\(names.joined(separator: ","))}")
    #expect(Query(limit: Query.Limit(100, side: .last)).evaluate(node).isSame(as: node))
    #expect(!Query(limit: Query.Limit(99, side: .last)).evaluate(node).isSame(as: node))
  }

  @Test("selects nothing from a leaf when it filters, and the leaf otherwise")
  func leaf() {
    #expect(Query(limit: Query.Limit(5, side: .first)).evaluate(.integer(5)).isEmpty)
    #expect(Query(index: .value).evaluate(.integer(5)) == .integer(5))
    #expect(Query.all.evaluate(.empty).isEmpty)
  }

  @Test("matches naive filtering and sorting", arguments: 1...6 as ClosedRange<UInt64>)
  func model(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let indexes: [Index] = [.priority, .key, .value, .child("a"), .child("a/b")]
    for _ in 0..<400 {
      let node = Node.random(depth: 3, using: &random)
      let index = indexes[Int.random(in: 0..<indexes.count, using: &random)]
      var query = Query(index: index)
      if Bool.random(using: &random) { query.start = bound(index, using: &random) }
      if Bool.random(using: &random) { query.end = bound(index, using: &random) }
      if Bool.random(using: &random) {
        let side: Query.LimitSide = Bool.random(using: &random) ? .first : .last
        query.limit = Query.Limit(Int.random(in: 1...4, using: &random), side: side)
      }
      #expect(
        query.select(from: IndexedNode(node, by: index)).map(\.key)
          == Self.naive(query, node).map(\.key),
        "\(query) \(node.exportText)"
      )
    }
  }

  private func bound(_ index: Index, using random: inout SplitMix64) -> QueryBound {
    let key = Node.randomKey(using: &random)
    if index == .key {
      return QueryBound(.string(key.text), isInclusive: Bool.random(using: &random))
    }
    let value: LeafValue? =
      Int.random(in: 0..<5, using: &random) == 0 ? nil : Node.randomLeaf(using: &random)
    let keys: [QueryBound.KeyPart?] = [nil, .minimum, .maximum, .key(key)]
    let part = keys[Int.random(in: 0..<keys.count, using: &random)]
    return QueryBound(value, key: part, isInclusive: Bool.random(using: &random))
  }

  /// The selection as the protocol describes it: sort, drop what is out of range, then limit.
  private static func naive(_ query: Query, _ node: Node) -> [(key: ChildKey, node: Node)] {
    let children = node.children?.map.map { (key: $0.key, node: $0.value) } ?? []
    let sorted = children.sorted {
      query.index.entry(for: $0.key, node: $0.node) < query.index.entry(for: $1.key, node: $1.node)
    }
    let inRange = sorted.filter { query.contains($0.key, node: $0.node) }
    switch query.limit?.side {
    case nil: return inRange
    case .first?: return Array(inRange.prefix(query.limit?.count ?? 0))
    case .last?: return Array(inRange.suffix(query.limit?.count ?? 0))
    }
  }
}
