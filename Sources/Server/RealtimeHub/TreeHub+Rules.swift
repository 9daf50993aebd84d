internal import RealtimeCore
package import SecurityRules

extension TreeHub {
  /// The rules in force, which may not be durable yet.
  package var rulesInForce: RuleSet { rules }

  /// How many children have been looked at to bring them into an order, since the start.
  ///
  /// Queries that are answered from an index do not add to it.
  package var orderedChildren: Int { orders.visited }

  /// Replaces the security rules, as a request of a peer that is an administrator.
  ///
  /// The change has its place in the order of all writes: what comes after it is checked by the new
  /// rules, and listens that they forbid are ended at once. The answer comes when the rules are
  /// stored; if they cannot be, the old ones are in force again.
  ///
  /// - Parameters:
  ///   - source: The document; a mistake in it is answered with its line, and nothing changes.
  ///   - isRehearsal: Whether the document is only to be looked at.
  ///   - peer: An open connection; others are ignored.
  ///   - request: The number of the request that is answered.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: What may leave at once.
  package mutating func setRules(
    source: String,
    isRehearsal: Bool = false,
    by peer: PeerID,
    request: Int64,
    at timestamp: Int64
  ) -> [HubOutput] {
    now = timestamp
    endCredentials(at: timestamp)
    guard let state = peers[peer], !state.isLeaving else { return flush() }
    let origin = RequestOrigin(peer: peer, request: request)
    do throws(Refusal) {
      guard state.standing.identity == .administrator else {
        throw Refusal(.permissionDenied, "Permission denied")
      }
      let rules = try Self.compile(source)
      if !isRehearsal {
        if let refusal = admissionRefusal { throw refusal }
        install(rules)
      }
      answer(origin, ServerMessage.Response(.ok), .refuse(request: request, nil))
    } catch {
      answer(origin, error.response, .keep)
    }
    return flush()
  }

  /// Replaces the security rules by word of the owner, who has compiled them.
  ///
  /// They are stored with the next batch; when that fails, the old ones are in force again.
  ///
  /// - Parameters:
  ///   - rules: The rules.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: What may leave at once.
  package mutating func setRules(_ rules: RuleSet, at timestamp: Int64) -> [HubOutput] {
    now = timestamp
    endCredentials(at: timestamp)
    install(rules)
    return flush()
  }

  private static func compile(_ source: String) throws(Refusal) -> RuleSet {
    do throws(RulesError) {
      return try RuleSet(source: source)
    } catch {
      throw Refusal(
        .invalidData,
        "Line \(error.line): \(error.message) (column \(error.column))"
      )
    }
  }

  private mutating func install(_ new: RuleSet) {
    rules = new
    unsavedRules = new.source
    appliedStep += 1
    orders.forgetDeclarations()
    for peer in peers.keys.sorted() { reviewListens(of: peer) }
  }
}
