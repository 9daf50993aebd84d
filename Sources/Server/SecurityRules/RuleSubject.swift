package import RealtimeCore

/// Who asks, as rules see it, made ready once for all its requests.
///
// Safety: written once, before anybody sees it; `members` holds what the values lend.
package final class RuleSubject: @unchecked Sendable {
  /// What rules see as `auth`.
  let auth: RuleValue
  /// The member `uid` of that, which nearly every rule asks for.
  let uid: RuleValue
  private let members: RuleMembers

  /// Makes a subject of what rules are to see as `auth`.
  ///
  /// - Parameter auth: An object with `uid`, `token` and so on, or nil for nobody.
  package init(_ auth: JSONValue?) {
    let name = Lent("auth".utf8)
    members = RuleMembers(.object(("auth", auth ?? .null)))
    self.auth = members[LeafText(name.elements)]
    guard case .map(let map) = self.auth else {
      uid = .null
      return
    }
    let uidName = Lent("uid".utf8)
    uid = map._withUnsafeGuaranteedRef { $0[LeafText(uidName.elements)] }
  }
}
