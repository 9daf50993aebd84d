package import RealtimeCore

extension TreeHub {
  /// The identity of a peer, or nil when it is not open.
  package func identity(of peer: PeerID) -> Identity? { access.state(of: peer)?.identity }

  /// The user that a peer's load counts towards; nil for administrators, including those who act as
  /// a user at the server's private socket, and for peers that have not signed in.
  func limitedUser(of peer: PeerID) -> String? {
    guard let state = access.state(of: peer), !state.isLocal else { return nil }
    return state.identity.uid
  }

  /// Whether a peer must sign in before it may do anything, as far as that is known.
  ///
  /// It must when it has not signed in, the rules have allowed it nothing so far, and they would
  /// not let it read everything.
  func needsSignIn(_ peer: PeerID) -> Bool {
    guard access.hasDoneNothing(peer), let state = access.state(of: peer) else { return false }
    return !mayRead(.root, as: state)
  }

  // MARK: Signing in

  /// Signs a peer in without sending it a response, and without explanations of the rules.
  ///
  /// Peers that are not open are ignored. `known` is what the credential proves, if another
  /// server has verified it. When it is not accepted, nothing has changed.
  package mutating func signIn(
    _ peer: PeerID,
    with authentication: ClientRequest.Authentication,
    knowing known: VerifiedCredential? = nil,
    at timestamp: Int64
  ) throws(RequestError) {
    guard let base = access.base(of: peer) else { return }
    let state = try access.verify(authentication, knowing: known, base: base, at: timestamp)
    now = timestamp
    writes.setOwner(state.identity, of: peer)
    // The response is the one the impersonated user would get, without an explanation.
    become(state.unexplained, peer: peer)
  }

  /// Signs a peer in, and reviews its listens before responding.
  ///
  /// A peer that presents an invalid credential falls back to the identity it has without one.
  mutating func authenticate(
    _ authentication: ClientRequest.Authentication,
    of origin: RequestOrigin,
    at timestamp: Int64
  ) {
    guard let base = access.base(of: origin.peer) else { return }
    do throws(RequestError) {
      let state = try access.verify(authentication, base: base, at: timestamp)
      writes.setOwner(state.identity, of: origin.peer)
      become(state, peer: origin.peer)
      let members = JSONValue.object(
        ("auth", state.identity.auth ?? .null),
        ("expires", state.expires.map { .integer($0 / 1_000) })
      )
      answer(origin, with: ServerMessage.Response(.ok, payload: .json(members)), orElse: .keep)
    } catch {
      become(nil, peer: origin.peer)
      refuse(origin, with: error)
    }
  }

  mutating func unauthenticate(_ origin: RequestOrigin) {
    signOut(origin.peer)
    let text = JSONValue.string("unauthenticated")
    answer(origin, with: ServerMessage.Response(.ok, payload: .json(text)), orElse: .keep)
  }

  /// Signs a peer out without sending it a response.
  mutating func signOut(_ peer: PeerID) {
    guard let base = access.base(of: peer) else { return }
    writes.setOwner(base, of: peer)
    become(nil, peer: peer)
  }

  private mutating func become(_ state: AuthState?, peer: PeerID) {
    access.become(state, peer: peer)
    reviewListens(of: peer)
  }

  // MARK: Expiry of credentials

  /// Ends the credentials that have expired; calling it at other times is harmless.
  package mutating func tick(at timestamp: Int64) -> [HubOutput] {
    now = timestamp
    endCredentials(at: timestamp)
    return flush()
  }

  /// Signs out users whose credentials are no longer valid, to judge by `auth`.
  ///
  /// Administrators who act as a user are not affected.
  ///
  /// - Complexity: O(peers)
  package mutating func endCredentials(
    at timestamp: Int64,
    where isDead: (JSONValue) -> Bool
  ) -> [HubOutput] {
    now = timestamp
    for (peer, state) in access.states() where !state.isExplained {
      guard let auth = state.identity.auth, isDead(auth) else { continue }
      endCredential(of: peer, reason: AuthState.revocation)
    }
    return flush()
  }

  /// Signs out peers whose credentials have expired, and notifies them.
  mutating func endCredentials(at timestamp: Int64) {
    while let peer = access.takeExpired(at: timestamp) {
      endCredential(of: peer, reason: AuthState.expiry)
    }
  }

  private mutating func endCredential(of peer: PeerID, reason: String) {
    append(
      .push(.authenticationRevoked(.expiredToken, reason: reason)),
      to: peer,
      orElse: .keep
    )
    become(nil, peer: peer)
  }

  // MARK: Listens that are no longer allowed

  /// Whether everything at a path may be read.
  func mayRead(_ path: Path, as state: AuthState) -> Bool {
    decision(toRead: path, as: state)?.isAllowed ?? true
  }

  /// The decision of the rules about a read, or nil when they do not apply.
  func decision(toRead path: Path, query: Query = .all, as state: AuthState) -> Decision? {
    access.decision(toRead: path, query: query, as: state, in: durability.root, at: now ?? 0)
  }

  /// Why the data that a query selects may not be read, or nil when it may.
  mutating func readError(at path: Path, query: Query, as state: AuthState) -> RequestError? {
    access.refusal(toRead: path, query: query, as: state, in: durability.root, at: now ?? 0)
  }

  /// Reviews the listens of a peer after its identity or the rules have changed, and ends those
  /// that it may no longer read.
  private mutating func reviewListens(of peer: PeerID) {
    let keys = listens.accounts.keys(of: peer)
    guard !keys.isEmpty, let state = access.state(of: peer) else { return }
    let revoked = keys.filter { !grantsListen($0, to: peer, as: state) }
    for key in revoked.sorted() { revoke(key, of: peer) }
  }

  /// Whether a peer may listen.
  ///
  /// Remembers whether the decision depends on data or on the time.
  mutating func grantsListen(_ key: ListenKey, to peer: PeerID, as state: AuthState) -> Bool {
    guard let decision = decision(toRead: key.path, query: key.query, as: state) else {
      listens.setConditional(false, for: key, of: peer)
      return true
    }
    listens.setConditional(decision.isAllowed && !decision.isLasting, for: key, of: peer)
    return decision.isAllowed
  }

  /// Ends the listens that a commit is about to be pushed to and that its data no longer allows.
  ///
  /// A listen whose rule reads data or the time is reviewed whenever there is something to push.
  /// Until then it receives nothing, so there is nothing to withhold. The price is one evaluation
  /// for each such listen on a path that changes, and none for all other listens.
  mutating func reviewConditionalListens(_ effect: CommitEffect) {
    for (peer, key) in listens.conditional(affectedBy: effect) {
      guard let state = access.state(of: peer) else { continue }
      if !grantsListen(key, to: peer, as: state) { revoke(key, of: peer) }
    }
  }

  /// Ends a listen and notifies its peer.
  mutating func revoke(_ key: ListenKey, of peer: PeerID) {
    listens.end(key, of: peer)
    // Only some clients read the query, so it is sent only when there is one.
    let queries = key.query.loadsAllData ? nil : [key.query]
    append(
      .push(.listenRevoked(path: key.path, queries: queries)),
      to: peer,
      orElse: .disconnect
    )
  }

  // MARK: Rules

  /// Replaces the security rules at the request of a peer, which must be an administrator.
  ///
  /// The change takes its turn in the order of all writes: later requests are checked by the new
  /// rules, and listens that they forbid are ended at once. The response is sent once the rules are
  /// stored. If they cannot be stored, the old rules take effect again.
  ///
  /// A mistake in the document is reported with its line, and nothing changes. A rehearsal
  /// only checks it. Peers that are not open are ignored.
  package mutating func setRules(
    source: String,
    isRehearsal: Bool = false,
    by peer: PeerID,
    request: Int64,
    at timestamp: Int64
  ) -> [HubOutput] {
    now = timestamp
    endCredentials(at: timestamp)
    guard isListenedTo(peer) else { return flush() }
    let origin = RequestOrigin(peer: peer, request: request, isInternal: isInternal(peer))
    do throws(RequestError) {
      guard identity(of: peer) == .administrator else {
        throw RequestError(.permissionDenied, reason: "Permission denied")
      }
      let rules = try Self.compile(source)
      if !isRehearsal {
        if let error = admissionError { throw error }
        install(rules)
      }
      acknowledge(origin)
    } catch {
      refuse(origin, with: error)
    }
    return flush()
  }

  /// Replaces the security rules on behalf of the owner, who has compiled them.
  ///
  /// They are stored with the next batch. If that fails, the old rules take effect again.
  package mutating func setRules(_ rules: RuleSet, at timestamp: Int64) -> [HubOutput] {
    now = timestamp
    endCredentials(at: timestamp)
    install(rules)
    return flush()
  }

  private static func compile(_ source: String) throws(RequestError) -> RuleSet {
    do throws(RulesError) {
      return try RuleSet(source: source)
    } catch {
      throw RequestError(
        .invalidData,
        reason: "Line \(error.line): \(error.message) (column \(error.column))"
      )
    }
  }

  private mutating func install(_ rules: RuleSet) {
    access.install(rules)
    durability.addStep()
    listens.forgetDeclarations()
    for (peer, _) in connections { reviewListens(of: peer) }
  }
}
