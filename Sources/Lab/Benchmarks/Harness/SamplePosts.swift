import RealtimeCore

/// Posts of one size with everything that real ones have: text, numbers, a nested map.
enum SamplePosts {
  /// The key of a post; ascending keys.
  static func key(_ number: Int) -> ChildKey {
    let digits = String(number)
    return ChildKey("-P" + String(repeating: "0", count: 8 - digits.count) + digits)
  }

  /// The text of a post: eight fields, about 290 bytes.
  static func json(_ number: Int) -> String {
    """
    {"author":"ada \(number % 97)","body":"What the day was like, in a line or two, and why it \
    is worth telling to the others here: \(number).","starCount":\(number * 7_919 % 10_007),\
    "stars":{"u\(number % 31)":true},"time":\(1_700_000_000_000 + number),"title":"Post number \
    \(number) of many","uid":"u\(number % 97)"}
    """
  }

  /// A post as data.
  static func node(_ number: Int) throws -> Node {
    try Node(json: JSONParser.parse(json(number)))
  }

  /// So many posts below one location.
  static func tree(_ count: Int) throws -> Node {
    var entries: [(key: ChildKey, value: Node)] = []
    entries.reserveCapacity(count)
    for number in 0..<count { entries.append((key(number), try node(number))) }
    return Node(sortedChildren: entries)
  }
}
