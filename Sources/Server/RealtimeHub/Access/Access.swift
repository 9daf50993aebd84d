internal import RealtimeCore
internal import SecurityRules

/// The auth state of every peer, and what the rules allow.
///
/// A peer is what its connection makes it, or what its credential says until that ends. Rules are in
/// force as soon as they are installed; if they cannot be stored, the last durable ones are again.
struct Access: Sendable {
  private struct Entry: Sendable {
    /// The identity without a credential.
    let base: Identity
    var state: AuthState
  }

  /// When the credential of a peer ends.
  private struct Deadline: Comparable, Sendable {
    /// In milliseconds since 1970.
    let time: Int64
    let peer: PeerID

    static func < (left: Deadline, right: Deadline) -> Bool {
      (left.time, left.peer) < (right.time, right.peer)
    }
  }

  /// The number of paths or values up to which an early check is not worthwhile.
  private static let smallWrite = 32

  private let limits: HubLimits
  private let verifier: any CredentialVerifier
  private var entries: [PeerID: Entry] = [:]
  /// The peers that the rules have never allowed anything; as a rule there are none, and a write looks
  /// for no peer.
  private var strangers: Set<PeerID> = []
  private var deadlines = SortedMap<Deadline, Void>()

  /// The rules that requests are checked by.
  private(set) var rules: RuleSet
  /// The rules as far as they are durable.
  private(set) var durableRules: RuleSet
  /// The source of rules that no batch has taken.
  private var unsavedSource: String?
  /// The rules for users at the server's private socket, in place of those above.
  private let localRules: RuleSet

  init(
    rules: RuleSet,
    localRules: RuleSet,
    limits: HubLimits,
    verifier: any CredentialVerifier
  ) {
    self.rules = rules
    durableRules = rules
    self.localRules = localRules
    self.limits = limits
    self.verifier = verifier
  }

  // MARK: Rules

  /// Whether there are rules that no batch has taken.
  var hasUnsavedRules: Bool { unsavedSource != nil }

  /// The rules that someone is judged by.
  private func rules(for state: AuthState) -> RuleSet { state.isLocal ? localRules : rules }

  /// Puts rules in force.
  mutating func install(_ rules: RuleSet) {
    self.rules = rules
    unsavedSource = rules.source
  }

  /// Takes the source of rules that are to be stored.
  mutating func takeUnsavedRules() -> String? {
    defer { unsavedSource = nil }
    return unsavedSource
  }

  /// Notes that rules are durable.
  mutating func saved(_ rules: RuleSet) { durableRules = rules }

  /// Puts the rules in force again that are durable.
  mutating func rollBack() {
    rules = durableRules
    unsavedSource = nil
  }

  // MARK: Peers

  mutating func open(_ peer: PeerID, as identity: Identity) {
    entries[peer] = Entry(base: identity, state: AuthState(identity: identity))
    strangers.insert(peer)
  }

  mutating func close(_ peer: PeerID) {
    setDeadline(nil, of: peer)
    entries[peer] = nil
    strangers.remove(peer)
  }

  /// The auth state of a peer; nil when it is not open.
  func state(of peer: PeerID) -> AuthState? { entries[peer]?.state }

  /// The identity of a peer without a credential; nil when it is not open.
  func base(of peer: PeerID) -> Identity? { entries[peer]?.base }

  /// All peers with their auth states, sorted by peer.
  ///
  /// - Complexity: O(peers · log peers)
  func states() -> [(peer: PeerID, state: AuthState)] {
    entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value.state) }
  }

  /// Sets the auth state of a peer; nil for that without a credential.
  mutating func become(_ state: AuthState?, peer: PeerID) {
    guard let base = entries[peer]?.base else { return }
    let state = state ?? AuthState(identity: base)
    setDeadline(state.expires, of: peer)
    entries[peer]?.state = state
  }

  /// Notes that the rules have allowed a peer something.
  mutating func letIn(_ peer: PeerID) {
    if !strangers.isEmpty { strangers.remove(peer) }
  }

  /// Whether a peer has not signed in, and the rules have allowed it nothing so far.
  func hasDoneNothing(_ peer: PeerID) -> Bool {
    strangers.contains(peer) && entries[peer]?.state.identity == .anonymous
  }

  // MARK: Credentials

  /// When the next credential ends, in milliseconds since 1970; nil while none does.
  var nextDeadline: Int64? { deadlines.first?.key.time }

  /// Removes and returns a peer whose credential has expired.
  mutating func takeExpired(at timestamp: Int64) -> PeerID? {
    guard let (deadline, _) = deadlines.first, deadline.time <= timestamp else { return nil }
    deadlines.removeValue(forKey: deadline)
    return deadline.peer
  }

  private mutating func setDeadline(_ time: Int64?, of peer: PeerID) {
    if let last = entries[peer]?.state.expires {
      deadlines.removeValue(forKey: Deadline(time: last, peer: peer))
    }
    if let time { deadlines.updateValue((), forKey: Deadline(time: time, peer: peer)) }
  }

  /// Whether an identity has been revoked, so that nothing may be written as it.
  func isShutOut(_ identity: Identity) -> Bool {
    guard case .user(let auth?) = identity else { return false }
    return verifier.isShutOut(auth)
  }

  /// Verifies a credential and returns the auth state that it gives.
  ///
  /// To an administrator's connection an empty credential stands for itself, so that it can act as
  /// someone else.
  ///
  /// - Parameters:
  ///   - authentication: The credential, and whom an administrator acts as.
  ///   - base: Who the peer is without it.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: Who it is, and what the client is told of that.
  /// - Throws: A ``CredentialError`` when the credential does not count.
  func verify(
    _ authentication: ClientRequest.Authentication,
    base: Identity,
    at timestamp: Int64
  ) throws(CredentialError) -> (state: AuthState, members: [JSONMember]) {
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
    return try Self.accept(verified, asFor: authentication, at: timestamp)
  }

  /// Takes a credential that has been verified, here or by another server.
  ///
  /// - Parameters:
  ///   - verified: What it says.
  ///   - authentication: Whom an administrator wants to act as.
  ///   - timestamp: The server's time in milliseconds since 1970.
  /// - Returns: Who it is, and what the client is told of that.
  /// - Throws: A ``CredentialError`` when the credential has ended, or the wish cannot be granted.
  static func accept(
    _ verified: VerifiedCredential,
    asFor authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(CredentialError) -> (state: AuthState, members: [JSONMember]) {
    if let expires = verified.expires, expires <= timestamp {
      throw CredentialError(.expiredToken, reason: AuthState.expiry)
    }
    var state = AuthState(identity: verified.identity, expires: verified.expires)
    var auth = verified.auth
    // Only administrators act as others; from anyone else the wish is ignored.
    if verified.identity == .administrator {
      if authentication.actsAsNobody || authentication.override == .null {
        state.identity = .anonymous
        state.isExplained = true
        auth = .null
      } else if let override = authentication.override {
        guard override.members != nil else {
          throw CredentialError(
            .invalidToken,
            reason: "the user to act as must be an object or null"
          )
        }
        state.identity = .user(override)
        state.isExplained = true
        auth = override
      }
    }
    let expires = verified.expires.map { JSONMember("expires", .integer($0 / 1_000)) }
    return (state, [JSONMember("auth", auth)] + [expires].compactMap(\.self))
  }

  // MARK: Permissions

  /// Why someone may not read what a query selects, or nil; administrators read everything.
  func refusal(
    toRead path: Path,
    query: Query,
    as state: AuthState,
    in root: Node,
    at now: Int64
  ) -> RequestError? {
    guard let decision = decision(toRead: path, query: query, as: state, in: root, at: now),
      !decision.isAllowed
    else { return nil }
    guard state.isExplained else { return .denied(nil) }
    return .denied(
      self.decision(toRead: path, query: query, as: state, in: root, at: now, isExplained: true)
    )
  }

  /// What the rules say of a read, or nil where they are not asked.
  func decision(
    toRead path: Path,
    query: Query,
    as state: AuthState,
    in root: Node,
    at now: Int64,
    isExplained: Bool = false
  ) -> Decision? {
    guard let subject = state.subject else { return nil }
    return rules(for: state).canRead(
      path,
      query: query,
      by: subject,
      now: now,
      root: root,
      steps: limits.ruleSteps,
      explaining: isExplained
    )
  }

  /// Asks whether someone may turn the tree into another; administrators may do everything.
  ///
  /// Mutating though it changes nothing: otherwise the caller copies all of this for the call.
  ///
  /// - Parameters:
  ///   - paths: Where something was asked to be written, whether or not it changes anything: who
  ///     may not write must not learn by trying what is there.
  ///   - before: The tree as it is.
  ///   - after: The tree with everything written, server values decided.
  ///   - state: Who asks.
  ///   - timestamp: What server timestamps have become.
  /// - Returns: Why not, or nil.
  mutating func refusal(
    toWrite paths: [Path],
    from before: Node,
    to after: Node,
    as state: AuthState,
    at timestamp: Int64
  ) -> RequestError? {
    guard let subject = state.subject else { return nil }
    let decision = rules(for: state).canWrite(
      paths,
      by: subject,
      now: timestamp,
      from: before,
      to: after,
      steps: limits.ruleSteps
    )
    if decision.isAllowed { return nil }
    guard state.isExplained else { return .denied(nil) }
    return .denied(
      rules(for: state).canWrite(
        paths,
        by: subject,
        now: timestamp,
        from: before,
        to: after,
        steps: limits.ruleSteps,
        explaining: true
      )
    )
  }

  /// Why a write is refused before anything is built for it, or nil when that takes a closer look.
  ///
  /// A large write takes long to check and to apply: who may not make it must not be able to make
  /// others wait for that. Mutating though it changes nothing, as above.
  ///
  /// - Parameters:
  ///   - operation: What is to be written.
  ///   - path: Where.
  ///   - state: Who asks.
  ///   - root: The tree as it is.
  ///   - timestamp: The time for the rules.
  /// - Returns: The refusal.
  /// - Complexity: O(paths · depth), times the cost of the rules, for a large write
  mutating func earlyRefusal(
    of operation: WriteOperation,
    at path: Path,
    as state: AuthState,
    in root: Node,
    at timestamp: Int64
  ) -> RequestError? {
    guard let subject = state.subject else { return nil }
    var measure = NodeMeasure(values: limits.writeValues)
    var places = 1
    switch operation {
    case .set(let node): measure.add(node)
    case .merge(let changes):
      places = changes.count
      if places > limits.updatePlaces {
        return RequestError(
          .tooBig,
          reason: "an update may change \(limits.updatePlaces) places at most, not \(places)"
        )
      }
      for change in changes { measure.add(change.node) }
    }
    if measure.isExceeded {
      return RequestError(.tooBig, reason: "a write may have \(limits.writeValues) values at most")
    }
    // With explanations on, the full check names the rule that refuses.
    guard max(places, measure.values) > Self.smallWrite, !state.isExplained else { return nil }
    let changes: [Change] =
      switch operation {
      case .set(let node): [Change(.root, to: node)]
      case .merge(let changes): changes
      }
    let isPossible = rules(for: state).couldWrite(
      changes.lazy.map { path.appending($0.path) },
      by: subject,
      now: timestamp,
      from: root,
      steps: limits.ruleSteps
    )
    return isPossible ? nil : .denied(nil)
  }
}

/// The current identity of a peer, when it ends, and whether refusals are explained.
struct AuthState: Sendable {
  static let expiry = "Auth token is expired."
  static let revocation = "Auth token is revoked."

  var identity: Identity {
    didSet { (subject, isLocal) = (Self.subject(identity), Self.isLocal(identity)) }
  }
  /// The subject that the rules see; nil for an administrator, who bypasses them.
  private(set) var subject: RuleSubject?
  /// Whether an administrator acts as this identity and may see explanations of the rules.
  var isExplained = false
  /// Whether it is a user at the server's private socket, for whom there are rules of their own.
  private(set) var isLocal: Bool
  /// When it ends, in milliseconds since 1970; nil is never.
  var expires: Int64?

  init(identity: Identity, expires: Int64? = nil) {
    self.identity = identity
    self.expires = expires
    subject = Self.subject(identity)
    isLocal = Self.isLocal(identity)
  }

  private static func isLocal(_ identity: Identity) -> Bool {
    guard case .user(let auth?) = identity else { return false }
    return auth["provider"]?.string == ClientRequest.Authentication.localProvider
  }

  private static func subject(_ identity: Identity) -> RuleSubject? {
    switch identity {
    case .administrator: nil
    case .user(let auth): RuleSubject(auth)
    }
  }
}

extension AuthState: Equatable {
  static func == (left: AuthState, right: AuthState) -> Bool {
    left.identity == right.identity && left.isExplained == right.isExplained
      && left.expires == right.expires
  }
}

extension RequestError {
  /// What the rules do not allow, with the reason for those who may know the rules.
  fileprivate static func denied(_ explained: Decision?) -> RequestError {
    let reason = explained.map { ": \($0.explanation)" } ?? ""
    return RequestError(.permissionDenied, reason: "Permission denied\(reason)")
  }
}
