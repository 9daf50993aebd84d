package import RealtimeCore

extension TreeHub {
  /// Begins a connection; a peer that is open already stays as it is.
  ///
  /// - Parameters:
  ///   - peer: The connection.
  ///   - identity: Who it is without a credential.
  ///   - isInternal: Whether it lives in the server: what it is told comes as values where that saves
  ///     encoding, and the answer to a write carries the data that are there then.
  package mutating func open(
    _ peer: PeerID,
    as identity: Identity = .anonymous,
    isInternal: Bool = false
  ) {
    if peers[peer] == nil { peers[peer] = Peer(identity, isInternal: isInternal) }
  }

  /// Who a peer is now, or nil when it is not open.
  package func identity(of peer: PeerID) -> Identity? { peers[peer]?.standing.identity }

  /// Makes a peer what its credential says, without an answer to it, and without reasons of the rules.
  ///
  /// - Parameters:
  ///   - peer: An open connection; others are ignored.
  ///   - authentication: The credential, and whom an administrator acts as.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Throws: A ``CredentialError`` when it does not count; then nothing has changed.
  package mutating func signIn(
    _ peer: PeerID,
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(CredentialError) {
    now = timestamp
    guard let base = peers[peer]?.base else { return }
    var standing = try verify(authentication, base, at: timestamp).standing
    // Whoever is acted as is told no more than those would be: what is answered is what they get.
    standing.isExplained = false
    peers[peer]?.writer = WriteOwner(standing.identity)
    become(standing, peer)
  }

  /// When the next credential ends, in milliseconds since 1970; nil while none does.
  package var nextDeadline: Int64? { deadlines.first?.key.time }

  /// Ends the credentials whose time has come; earlier and later calls do no harm.
  ///
  /// - Parameter timestamp: The server's time in milliseconds since 1970.
  /// - Returns: What the peers are to be told.
  package mutating func tick(at timestamp: Int64) -> [HubOutput] {
    now = timestamp
    endCredentials(at: timestamp)
    return flush()
  }

  /// Makes a peer what its credential says, and reviews its listens before it is answered.
  ///
  /// A peer whose credential does not count is what it was without one. To an administrator's
  /// connection an empty credential stands for itself, so that it can act as someone else.
  mutating func authenticate(
    _ authentication: ClientRequest.Authentication,
    _ origin: RequestOrigin,
    at timestamp: Int64
  ) {
    guard let base = peers[origin.peer]?.base else { return }
    do throws(CredentialError) {
      let verified = try verify(authentication, base, at: timestamp)
      peers[origin.peer]?.writer = WriteOwner(verified.standing.identity)
      become(verified.standing, origin.peer)
      answer(origin, ServerMessage.Response(.ok, .json(.object(verified.members))), .keep)
    } catch {
      become(Standing(identity: base), origin.peer)
      answer(origin, Refusal(error.status, error.reason).response, .keep)
    }
  }

  private func verify(
    _ authentication: ClientRequest.Authentication,
    _ base: Identity,
    at timestamp: Int64
  ) throws(CredentialError) -> (standing: Standing, members: [JSONMember]) {
    let verified: VerifiedCredential
    if base == .administrator, authentication.credential.isEmpty {
      verified = VerifiedCredential(.administrator)
    } else {
      verified = try verifier.verify(
        ClientRequest.Authentication(
          credential: authentication.credential,
          isAdministrative: authentication.isAdministrative
        ),
        at: timestamp
      )
    }
    if let expires = verified.expires, expires <= timestamp {
      throw CredentialError(.expiredToken, Self.expiry)
    }
    var standing = Standing(identity: verified.identity, expires: verified.expires)
    var auth = verified.auth
    // Only administrators act as others; from anyone else the wish is ignored.
    if verified.identity == .administrator {
      if authentication.actsAsNobody || authentication.override == .null {
        standing.identity = .anonymous
        standing.isExplained = true
        auth = .null
      } else if let override = authentication.override {
        guard override.members != nil else {
          throw CredentialError(.invalidToken, "the user to act as must be an object or null")
        }
        standing.identity = .user(override)
        standing.isExplained = true
        auth = override
      }
    }
    let expires = verified.expires.map { JSONMember("expires", .integer($0 / 1_000)) }
    return (standing, [JSONMember("auth", auth)] + [expires].compactMap(\.self))
  }

  /// Makes a peer what it is without a credential.
  mutating func unauthenticate(_ origin: RequestOrigin) {
    guard let base = peers[origin.peer]?.base else { return }
    peers[origin.peer]?.writer = WriteOwner(base)
    become(Standing(identity: base), origin.peer)
    answer(origin, ServerMessage.Response(.ok, .json(.string("unauthenticated"))), .keep)
  }

  private mutating func become(_ standing: Standing, _ peer: PeerID) {
    setDeadline(standing.expires, of: peer)
    peers[peer]?.standing = standing
    reviewListens(of: peer)
  }

  // MARK: The end of credentials

  private static let expiry = "Auth token is expired."
  private static let revocation = "Auth token is revoked."

  /// Notes when the credential of a peer ends; nil is never.
  mutating func setDeadline(_ time: Int64?, of peer: PeerID) {
    if let last = peers[peer]?.standing.expires {
      deadlines.removeValue(forKey: CredentialDeadline(time: last, peer: peer))
    }
    if let time { deadlines.updateValue((), forKey: CredentialDeadline(time: time, peer: peer)) }
  }

  /// Makes users what they are without a credential whose credentials do not count any more.
  ///
  /// Administrators who act as someone stay what they are.
  ///
  /// - Parameters:
  ///   - timestamp: The server's time in milliseconds since 1970.
  ///   - isDead: Whether a credential does not count that made its owner what rules see as `auth`.
  /// - Returns: What the peers are to be told.
  /// - Complexity: O(peers)
  package mutating func endCredentials(
    at timestamp: Int64,
    where isDead: (JSONValue) -> Bool
  ) -> [HubOutput] {
    now = timestamp
    for (id, peer) in peers.sorted(by: { $0.key < $1.key }) where !peer.standing.isExplained {
      guard case .user(let auth?) = peer.standing.identity, isDead(auth) else { continue }
      append(.push(.authenticationRevoked(.expiredToken, reason: Self.revocation)), to: id, .keep)
      become(Standing(identity: peer.base), id)
    }
    return flush()
  }

  /// Makes peers whose time has come what they are without a credential, and tells them.
  mutating func endCredentials(at timestamp: Int64) {
    while let (deadline, _) = deadlines.first, deadline.time <= timestamp {
      deadlines.removeValue(forKey: deadline)
      guard let base = peers[deadline.peer]?.base else { continue }
      append(
        .push(.authenticationRevoked(.expiredToken, reason: Self.expiry)),
        to: deadline.peer,
        .keep
      )
      become(Standing(identity: base), deadline.peer)
    }
  }
}
