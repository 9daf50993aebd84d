internal import RealtimeTree

/// What the names in a rule stand for.
struct RuleScope {
  let auth: RuleValue
  let now: Double
  let oldRoot: Snapshot
  var data: Snapshot
  var newData: Snapshot?
  let query: Query?
  var captures: [String] = []

  /// The scope one level further down, at a child.
  func child(_ key: ChildKey, isCaptured: Bool) -> RuleScope {
    var scope = self
    scope.data = data.child(key)
    scope.newData = newData?.child(key)
    if isCaptured { scope.captures.append(key.text) }
    return scope
  }
}
