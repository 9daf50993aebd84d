internal import RealtimeCore

/// An object or a list of `auth`, its members made ready to be asked for.
///
// Safety: written once, before anybody sees it; what the values lend is held by `texts` and `maps`.
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

  /// The value of a member, null when there is none; of two with one name the later counts.
  ///
  /// - Complexity: O(members)
  subscript(name: LeafText) -> RuleValue {
    members.last { LeafText($0.name.elements) == name }?.value ?? .null
  }
}
