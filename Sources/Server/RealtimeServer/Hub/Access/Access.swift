internal import RealtimeCore

/// The authentication state of every peer, and the permissions under the rules.
///
/// A peer has the identity of its credential until that expires, and otherwise that of its
/// connection. Rules take effect as soon as they are installed; if they cannot be stored, the last
/// durable rules take effect again.
struct Access: Sendable {
  /// When the credential of a peer expires.
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

  private let limits: ServerLimits
  private let verifier: any CredentialVerifier
  /// The identity of each peer without a credential, and its state.
  private var entries: [PeerID: (base: Identity, state: AuthState)] = [:]
  /// The peers that the rules have never allowed anything.
  ///
  /// The set is usually empty, so that a write need not look for its peer.
  private var strangers: Set<PeerID> = []
  private var deadlines = SortedMap<Deadline, Void>()

  private(set) var rules: RuleSet
  /// The latest rules that are durable.
  private(set) var durableRules: RuleSet
  /// The path of the latest request for which the rules took too many steps.
  private var exhaustedPath: Path?
  /// The source of rules that no batch has taken.
  private var unsavedSource: String?
  /// The rules that replace ``rules`` for users at the server's private socket.
  private let localRules: RuleSet

  init(
    rules: RuleSet,
    localRules: RuleSet,
    limits: ServerLimits,
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

  /// Whether the rules in force are durable.
  var hasDurableRules: Bool { rules.source == durableRules.source }

  private func rules(for state: AuthState) -> RuleSet { state.isLocal ? localRules : rules }

  mutating func install(_ rules: RuleSet) {
    self.rules = rules
    unsavedSource = rules.source
  }

  mutating func takeUnsavedRules() -> String? {
    defer { unsavedSource = nil }
    return unsavedSource
  }

  mutating func saved(_ rules: RuleSet) { durableRules = rules }

  /// Puts the last durable rules in force again.
  mutating func rollBack() {
    rules = durableRules
    unsavedSource = nil
  }

  // MARK: Peers

  mutating func open(_ peer: PeerID, as identity: Identity) {
    entries[peer] = (identity, AuthState(identity: identity))
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

  /// Sets the auth state of a peer; nil restores the state without a credential.
  mutating func become(_ state: AuthState?, peer: PeerID) {
    guard let base = entries[peer]?.base else { return }
    let state = state ?? AuthState(identity: base)
    setDeadline(state.expires, of: peer)
    entries[peer]?.state = state
  }

  /// Records that the rules have allowed a peer something.
  mutating func markAuthorized(_ peer: PeerID) {
    if !strangers.isEmpty { strangers.remove(peer) }
  }

  /// Whether a peer has not signed in, and the rules have allowed it nothing so far.
  func hasDoneNothing(_ peer: PeerID) -> Bool {
    strangers.contains(peer) && entries[peer]?.state.identity == .anonymous
  }

  // MARK: Credentials

  /// When the next credential expires, in milliseconds since 1970; nil when none does.
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
    identity.auth.map(verifier.isShutOut) ?? false
  }

  /// Verifies a credential and returns the resulting auth state.
  ///
  /// On an administrator's connection an empty credential is valid and means the administrator, who
  /// can then act as someone else. `known` is what the credential proves, if another server has
  /// verified it; `base` is the peer's identity without it.
  ///
  /// - Throws: A ``RequestError`` when the credential is not accepted or has expired, or its holder
  ///   cannot act as asked.
  func verify(
    _ authentication: ClientRequest.Authentication,
    knowing known: VerifiedCredential? = nil,
    base: Identity,
    at timestamp: Int64
  ) throws(RequestError) -> AuthState {
    let verified: VerifiedCredential
    if let known {
      verified = known
    } else if base == .administrator, authentication.credential.isEmpty {
      verified = VerifiedCredential(identity: .administrator)
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
      throw RequestError(.expiredToken, reason: AuthState.expiry)
    }
    // Only administrators act as others; anyone else's wish is ignored.
    if verified.identity == .administrator {
      if authentication.actsAsNobody || authentication.override == .null {
        return AuthState(identity: .anonymous, isExplained: true, expires: verified.expires)
      }
      if let override = authentication.override {
        guard override.members != nil else {
          throw .invalidToken("the user to act as must be an object or null")
        }
        return AuthState(identity: .user(override), isExplained: true, expires: verified.expires)
      }
    }
    return AuthState(identity: verified.identity, expires: verified.expires)
  }

  // MARK: Permissions

  /// Why the data that a query selects may not be read, or nil; administrators read everything.
  mutating func refusal(
    toRead path: Path,
    query: Query,
    as state: AuthState,
    in root: Node,
    at now: Int64
  ) -> RequestError? {
    guard let decision = decision(toRead: path, query: query, as: state, in: root, at: now),
      !decision.isAllowed
    else { return nil }
    if decision.isExhausted { return exhausted(at: path) }
    guard state.isExplained else { return .denied(nil) }
    return .denied(
      self.decision(toRead: path, query: query, as: state, in: root, at: now, isExplained: true)
    )
  }

  /// Refuses a request for which the rules took too many steps, and remembers that.
  private mutating func exhausted(at path: Path) -> RequestError {
    exhaustedPath = path
    return RequestError(
      .permissionDenied,
      reason: "Permission denied: the rules take too many steps for this request"
    )
  }

  /// Takes the path of the latest request for which the rules took too many steps.
  mutating func takeExhaustedPath() -> Path? {
    defer { if exhaustedPath != nil { exhaustedPath = nil } }
    return exhaustedPath
  }

  /// The decision of the rules about a read, or nil when the rules do not apply.
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

  /// Why a write, with server values resolved, may not change the tree; administrators may do all.
  ///
  /// All paths of the request are checked, whether or not their data changes: a peer that may not
  /// write must not learn by trying what the data is. Mutating although it changes nothing:
  /// otherwise the caller would copy this value for the call.
  mutating func refusal(
    toWrite paths: [Path],
    from before: Node,
    to after: Node,
    as state: AuthState,
    at timestamp: Int64
  ) -> RequestError? {
    guard let subject = state.subject else { return nil }
    func decision(isExplained: Bool) -> Decision {
      rules(for: state).canWrite(
        paths,
        by: subject,
        now: timestamp,
        from: before,
        to: after,
        steps: limits.ruleSteps,
        explaining: isExplained
      )
    }
    let decided = decision(isExplained: false)
    if decided.isAllowed { return nil }
    if decided.isExhausted { return exhausted(at: paths.first ?? .root) }
    return .denied(state.isExplained ? decision(isExplained: true) : nil)
  }

  /// Checks whether a write may replace data, but no priority, before the resulting tree is built.
  ///
  /// Mutating although it changes nothing, as above.
  ///
  /// - Returns: The verdict; undecided if only the tree that results can tell.
  mutating func verdict(
    on change: Change,
    in root: Node,
    as state: AuthState,
    at timestamp: Int64
  ) -> Verdict {
    guard let subject = state.subject else { return .allowed }
    // The check of the tree that results names the rule that refuses.
    guard !state.isExplained else { return .undecided }
    let decision = rules(for: state).canReplace(
      change.path,
      by: change.node,
      in: root,
      as: subject,
      now: timestamp,
      steps: limits.ruleSteps
    )
    guard let decision else { return .undecided }
    if decision.isExhausted { return .refused(exhausted(at: change.path)) }
    return decision.isAllowed ? .allowed : .refused(.denied(nil))
  }

  /// Refuses a write before anything is built for it, or returns nil when that takes a closer look.
  ///
  /// A large write takes long to check and to apply. A peer that may not make it must not be able
  /// to keep others waiting for that. The paths are from the root, which is evaluated only for a
  /// large write. Mutating although it changes nothing, as above.
  ///
  /// - Complexity: O(paths · depth), times the cost of the rules, for a large write
  mutating func earlyRefusal(
    of changes: [Change],
    as state: AuthState,
    in root: @autoclosure () -> Node,
    at timestamp: Int64
  ) -> RequestError? {
    guard let subject = state.subject else { return nil }
    if changes.count > limits.updatePlaces {
      return RequestError(
        .tooBig,
        reason: "an update may change at most \(limits.updatePlaces) paths, not \(changes.count)"
      )
    }
    var measure = NodeMeasure(values: limits.writeValues)
    for change in changes { measure.add(change.node) }
    if measure.isExceeded {
      return RequestError(.tooBig, reason: "a write may have at most \(limits.writeValues) values")
    }
    // When explanations are on, the full check names the rule that refuses.
    guard max(changes.count, measure.values) > Self.smallWrite, !state.isExplained else {
      return nil
    }
    let isPossible = rules(for: state).couldWrite(
      changes.lazy.map(\.path),
      by: subject,
      now: timestamp,
      from: root(),
      steps: limits.ruleSteps
    )
    return isPossible ? nil : .denied(nil)
  }
}

/// Whether a write may be made.
enum Verdict {
  case allowed
  case refused(RequestError)
  /// Only the tree that results can tell.
  case undecided
}

/// The current identity of a peer, when it expires, and whether refusals are explained.
///
// A class, since each request takes a copy, which counts one reference.
final class AuthState: Sendable {
  static let expiry = "Auth token is expired."
  static let revocation = "Auth token is revoked."

  let identity: Identity
  /// The subject that the rules see; nil for an administrator, who bypasses them.
  let subject: RuleSubject?
  /// Whether an administrator acts as this identity, and so may see explanations of the rules.
  let isExplained: Bool
  /// Whether it is a user at the server's private socket, to whom separate rules apply.
  let isLocal: Bool
  /// When it expires, in milliseconds since 1970; nil means never.
  let expires: Int64?

  init(identity: Identity, isExplained: Bool = false, expires: Int64? = nil) {
    self.identity = identity
    self.isExplained = isExplained
    self.expires = expires
    isLocal = identity.isLocal
    subject =
      switch identity {
      case .administrator: nil
      case .user(let auth): RuleSubject(auth)
      }
  }

  /// The same state without explanations.
  var unexplained: AuthState {
    isExplained ? AuthState(identity: identity, expires: expires) : self
  }
}

extension RequestError {
  /// A refusal by the rules, with the reason for peers that may know the rules.
  fileprivate static func denied(_ explained: Decision?) -> RequestError {
    let reason = explained.map { ": \($0.explanation)" } ?? ""
    return RequestError(.permissionDenied, reason: "Permission denied\(reason)")
  }
}
