internal import RealtimeTree

/// What the names in a rule stand for; shared by all rules of a location.
final class RuleScope: Sendable {
  let auth: RuleValue
  let now: Double
  let oldRoot: Snapshot
  let data: Snapshot
  let newData: Snapshot?
  let query: Query?
  let captures: [String]

  init(
    auth: RuleValue,
    now: Double,
    oldRoot: Snapshot,
    data: Snapshot,
    newData: Snapshot? = nil,
    query: Query?,
    captures: [String] = []
  ) {
    self.auth = auth
    self.now = now
    self.oldRoot = oldRoot
    self.data = data
    self.newData = newData
    self.query = query
    self.captures = captures
  }

  /// The scope one level further down, at a child.
  func child(_ key: ChildKey, isCaptured: Bool) -> RuleScope {
    RuleScope(
      auth: auth,
      now: now,
      oldRoot: oldRoot,
      data: data.child(key),
      newData: newData?.child(key),
      query: query,
      captures: isCaptured ? captures + [key.text] : captures
    )
  }
}
