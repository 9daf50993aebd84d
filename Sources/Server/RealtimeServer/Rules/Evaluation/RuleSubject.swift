package import RealtimeCore

/// The `auth` of a client, prepared once for all its requests.
///
// Safety: initialized once, before it is shared; `members` retains what the values borrow.
package final class RuleSubject: @unchecked Sendable {
  let client: RuleClient
  /// What ``client`` borrows.
  private let members: RuleMembers?

  /// A client that has not signed in.
  package static let nobody = RuleSubject(nil)

  /// Prepares an `auth`: an object with `uid`, `token` and so on; nil without sign-in.
  package init(_ auth: JSONValue?) {
    guard let auth, auth.members != nil else {
      (client, members) = (RuleClient(), nil)
      return
    }
    let members = RuleMembers(auth)
    let uidName = Lent("uid".utf8)
    let uid = withExtendedLifetime(uidName) { members[LeafText(uidName.elements)] }
    var client = RuleClient(auth: .map(Unmanaged.passUnretained(members)), uid: uid)
    client.memberCount = members.count
    if case .string(let text) = uid, text.byteCount > 0, !text.utf8.contains(UInt8(ascii: "/")) {
      client.uidKey = text
    }
    (self.client, self.members) = (client, members)
  }
}

/// The `auth` of a client, borrowed from a subject.
struct RuleClient {
  var auth = RuleValue.null
  /// Its member `uid`, which nearly every rule uses.
  var uid = RuleValue.null
  /// The number of members of `auth`, which is also the cost of looking one up.
  var memberCount = 0
  /// The member `uid` if it is text that, as a path, is a single key, as nearly always.
  var uidKey: LeafText?
}

/// An object or array within `auth`, prepared for evaluation; elements go by their positions.
///
/// There is one for each signed-in connection and level, so it makes few allocations.
///
// Safety: initialized once, before it is shared; `texts` and `maps` retain what the members borrow.
final class RuleMembers: @unchecked Sendable {
  let json: JSONValue
  /// Each name and, if its value is text, that too, one after the other in UTF-8.
  private let texts: Lent<UInt8>
  private let maps: [RuleMembers]
  private let members: [(name: LeafText, value: RuleValue)]

  init(_ json: JSONValue) {
    self.json = json
    let elements = json.elements ?? []
    let source =
      json.members ?? elements.enumerated().map { JSONMember(String($0.offset), $0.element) }
    var bytes: [UInt8] = []
    for member in source {
      bytes += member.name.utf8
      if case .string(let text) = member.value { bytes += text.utf8 }
    }
    texts = Lent(bytes)
    var rest = texts.elements[...]
    func borrow(_ text: String) -> LeafText {
      let own = rest.prefix(text.utf8.count)
      rest = rest.dropFirst(own.count)
      return LeafText(UnsafeBufferPointer(rebasing: own))
    }
    var maps: [RuleMembers] = []
    members = source.map { member in
      let name = borrow(member.name)
      switch member.value {
      case .null: return (name, .null)
      case .bool(let value): return (name, .bool(value))
      case .integer(let value): return (name, .number(Double(value)))
      case .double(let value): return (name, .number(value))
      case .string(let text): return (name, .string(borrow(text)))
      case .array, .object:
        let map = RuleMembers(member.value)
        maps.append(map)
        return (name, .map(Unmanaged.passUnretained(map)))
      }
    }
    self.maps = maps
  }

  var count: Int { members.count }

  /// The value of a member, or null; if a name occurs twice, the later member counts.
  ///
  /// - Complexity: O(members)
  subscript(name: LeafText) -> RuleValue {
    members.last { $0.name == name }?.value ?? .null
  }
}

/// A value during evaluation; its text and members are borrowed from the request.
enum RuleValue {
  case null
  case bool(Bool)
  case number(Double)
  case string(LeafText)
  /// `auth`, or a member of it that has members of its own.
  case map(Unmanaged<RuleMembers>)
  /// Data with children, which is neither null nor comparable.
  case object

  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .map, .object: "an object"
    }
  }
}
