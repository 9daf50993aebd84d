/// The object with what a request, an answer or a push is about.
struct MessageBody {
  /// The path "p", if it is a string.
  var path: Path?
  /// The data "d" of a message that puts data into a tree.
  var data: MessageData?
  /// All other members, in the order of the text.
  var members: [JSONMember] = []

  /// The value of a member, or nil; of two with one name the later counts.
  ///
  /// - Complexity: O(members)
  subscript(name: String) -> JSONValue? { members.last { $0.name == name }?.value }

  // MARK: Members of a request

  // One of another kind does not count as missing: a write that is to depend on what is there must not
  // become one that does not, and whoever wants to act as nobody must not act as an administrator.

  func string(_ name: String) throws(NodeError) -> String? {
    try member(name, "a string") { $0.string }
  }

  func integer(_ name: String) throws(NodeError) -> Int64? {
    try member(name, "a whole number") { $0.integer }
  }

  func bool(_ name: String) throws(NodeError) -> Bool? {
    try member(name, "true or false") { $0.bool }
  }

  /// The name "i" of a write.
  var writeKey: WriteKey? {
    get throws(NodeError) {
      try member("i", "a client's name, a colon and a number") {
        $0.string.flatMap { WriteKey(wire: $0) }
      }
    }
  }

  private func member<Value>(
    _ name: String,
    _ kind: String,
    _ read: (JSONValue) -> Value?
  ) throws(NodeError) -> Value? {
    guard let json = self[name] else { return nil }
    guard let value = read(json) else {
      throw NodeError(description: "the member \"\(name)\" must be \(kind)")
    }
    return value
  }
}
