package import RealtimeCore

/// The `auth` of a client, prepared once for all its requests.
///
// Safety: initialized once, before it is shared; `members` retains what the values borrow.
package final class RuleSubject: @unchecked Sendable {
  /// The variable `auth`.
  let auth: RuleValue
  /// Its member `uid`, which nearly every rule uses.
  let uid: RuleValue
  /// The number of members of `auth`, which is also the cost of looking one up.
  let memberCount: Int
  /// The member `uid` if it is text that, as a path, is a single key.
  let uidKey: LeafText?
  private let members: RuleMembers

  /// A client that has not signed in.
  package static let nobody = RuleSubject(nil)

  /// Prepares an `auth`.
  ///
  /// - Parameter auth: An object with `uid`, `token` and so on, or nil for a client that has not
  ///   signed in.
  package init(_ auth: JSONValue?) {
    let name = Lent("auth".utf8)
    members = RuleMembers(.object(("auth", auth ?? .null)))
    self.auth = members[LeafText(name.elements)]
    guard case .map(let map) = self.auth else {
      (uid, uidKey) = (.null, nil)
      memberCount = 0
      return
    }
    let uidName = Lent("uid".utf8)
    uid = map._withUnsafeGuaranteedRef { $0[LeafText(uidName.elements)] }
    memberCount = map._withUnsafeGuaranteedRef { $0.count }
    if case .string(let text) = uid, text.byteCount > 0, !text.utf8.contains(UInt8(ascii: "/")) {
      uidKey = text
    } else {
      uidKey = nil
    }
  }
}

/// An object or array within `auth`, prepared for evaluation.
///
// Safety: initialized once, before it is shared; `texts` and `maps` retain what the values borrow.
final class RuleMembers: @unchecked Sendable {
  let json: JSONValue
  private var members: [(name: Lent<UInt8>, value: RuleValue)] = []
  private var texts: [Lent<UInt8>] = []
  private var maps: [RuleMembers] = []

  init(_ json: JSONValue) {
    self.json = json
    for member in json.members ?? [] {
      members.append((Lent(member.name.utf8), value(member.value)))
    }
  }

  private func value(_ json: JSONValue) -> RuleValue {
    switch json {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .integer(let value): return .number(Double(value))
    case .double(let value): return .number(value)
    case .string(let text):
      let text = Lent(text.utf8)
      texts.append(text)
      return .string(LeafText(text.elements))
    case .array, .object:
      let map = RuleMembers(json)
      maps.append(map)
      return .map(Unmanaged.passUnretained(map))
    }
  }

  /// The number of members.
  var count: Int { members.count }

  /// The value of a member, or null; if a name occurs twice, the later member counts.
  ///
  /// - Complexity: O(members)
  subscript(name: LeafText) -> RuleValue {
    members.last { LeafText($0.name.elements) == name }?.value ?? .null
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

  /// The kind of value, for messages.
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
