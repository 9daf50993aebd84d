internal import RealtimeHub
internal import SecurityRules

extension DatabaseServer.Options {
  /// The rules of a database that has none of its own.
  var initialRules: RuleSet {
    switch rules {
    case .open: .open
    case .locked, .source: .closed
    }
  }
}

extension DatabaseServer.Rules {
  /// The compiled document, or nil when there is none.
  ///
  /// - Throws: ``DatabaseServerError`` with the line and the column of a mistake.
  func compiled() throws(DatabaseServerError) -> RuleSet? {
    guard case .source(let source) = self else { return nil }
    do throws(RulesError) {
      return try RuleSet(source: source)
    } catch {
      throw DatabaseServerError(
        .invalidRules,
        "\(error.line):\(error.column): \(error.message)"
      )
    }
  }
}
