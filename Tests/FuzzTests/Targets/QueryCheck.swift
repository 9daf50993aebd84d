import RealtimeCore

/// A query that can be decoded can be encoded, and selects the same children as a full search.
enum QueryCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    guard let json = try? JSONParser.parse(input), let query = try? Query(json: json) else {
      return
    }
    let again = try? Query(json: query.json)
    try demand(again == query, "\(query.json.text) is another query")
    try demand(again?.id == query.id, "\(query.json.text) has another identity")
    for place in places { try check(query, at: place) }
  }

  /// Compares what a query selects with a search of all children.
  static func check(_ query: Query, at place: Node) throws(BrokenProperty) {
    let indexed = IndexedNode(place, by: query.index)
    let selected = query.select(from: indexed).map(\.key)
    try demand(selected == search(query, place), "\(query.json.text) selects other children")
    let result = query.evaluate(place)
    let expected = query.loadsAllData ? place.children?.map.count ?? 0 : selected.count
    try demand((result.children?.map.count ?? 0) == expected, "an evaluation has other children")
  }

  private static func search(_ query: Query, _ place: Node) -> [ChildKey] {
    guard let children = place.children else { return [] }
    let entries = children.map.filter { query.contains($0.key, node: $0.value) }
      .map { query.index.entry(for: $0.key, node: $0.value) }.sorted().map(\.key)
    return switch query.limit?.side {
    case nil: entries
    case .first?: Array(entries.prefix(query.limit?.count ?? 0))
    case .last?: Array(entries.suffix(query.limit?.count ?? 0))
    }
  }

  /// Data with values of all kinds, with and without priorities.
  static let places: [Node] = [
    #"{"a":null,"b":false,"c":true,"d":-5,"e":0,"f":0,"9":3,"10":3,"g":"0","h":"Z","i":"","j":{"x":1}}"#,
    #"{"a":{"v":1,"n":{"m":"x"}},"b":{"v":false},"c":{"v":{"w":1}},"d":{"v":"é"},"e":{"n":{"m":2}}}"#,
    #"{"a":{".value":1,".priority":2},"b":{".value":1,".priority":"p"},"c":1,"-0":4,"00":5,"0":6}"#,
    #"{"x":9007199254740993,"y":9007199254740992.0,"z":-9.5e300,"é":1,"é":2,"\uD83D\uDC35":3,"\uFB00":4}"#,
    "\"leaf\"",
  ].compactMap { text in (try? JSONParser.parse(text)).flatMap { try? Node(json: $0) } }
}
