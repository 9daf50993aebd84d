internal import RealtimeTree

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
}
