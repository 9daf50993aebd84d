import RealtimeCore

/// What a node says as a post or a comment.
extension Node {
  /// The children in the order of their keys.
  var entries: [(key: ChildKey, value: Node)] { children.map { Array($0.map) } ?? [] }

  /// The keys of the children.
  var keys: [ChildKey] { entries.map(\.key) }

  /// The text of a child, or nil when it is none.
  func text(_ key: ChildKey) -> String? {
    if case .string(let text)? = self[key].leafValue { text } else { nil }
  }

  /// The number that a post says of its stars, or nil when it says none.
  var starCount: Int? { self[.starCount].leafValue?.number.flatMap { Int(exactly: $0) } }

  /// The names of the children in which two nodes differ.
  func differences(from other: Node) -> [ChildKey] {
    Set(keys).union(other.keys).sorted().filter { self[$0] != other[$0] }
  }

  /// The node in a few words.
  var summary: String {
    let text = isEmpty ? "nothing" : json(.value).text
    return text.count > 200 ? text.prefix(200) + "…" : text
  }
}
