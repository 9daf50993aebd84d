internal import RealtimeHub
internal import SecurityRules

extension ServerCore {
  /// What kind of rules is in force in the database that clients reach who name none.
  var rulesState: DatabaseServer.RulesState {
    guard let hub = databases.opened(options.namespace)?.hub else { return .locked }
    if hub.rulesInForce.isDocument { return .document }
    switch options.rules {
    case .open where hub.storedRulesProblem == nil: return .open
    case .open, .locked, .source: return .locked
    }
  }
}
