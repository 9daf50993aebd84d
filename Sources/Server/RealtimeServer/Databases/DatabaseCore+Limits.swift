internal import Logging
internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

extension DatabaseCore {
  /// The refusal of a request before it reaches the hub, or nil if it may proceed.
  func refusal(of request: ClientRequest) -> ServerMessage.Response? {
    guard case .listen = request, context.resident.isExhausted(at: context.clock()) else {
      return nil
    }
    let reason = "the server is out of memory"
    return ServerMessage.Response(.unavailable, payload: .json(.string(reason)))
  }

  /// Logs that a connection has many listens, or has reached the limit.
  func noteListens(_ peer: PeerID) {
    let limits = options.limits
    let count = hub.listenCount(of: peer)
    if count > limits.listensWarning {
      note("a connection has more than \(limits.listensWarning) listens", of: peer)
    }
    if count >= limits.listens {
      note("a connection has \(limits.listens) listens, the most that there may be", of: peer)
    }
  }

  /// Logs that a connection has scheduled as many writes as it may.
  func noteScheduled(_ peer: PeerID) {
    let limit = options.limits.disconnectWrites
    guard hub.scheduledCount(of: peer) >= limit else { return }
    note("a connection has scheduled \(limit) writes, the most that there may be", of: peer)
  }

  /// Logs that the rules took too many steps for a request, at most once an hour.
  func noteExhausted(_ path: Path) {
    let warning = "a request was refused because the rules take too many steps for it"
    guard peers.users.isDue(warning, about: nil) else { return }
    logger.warning("\(warning)", metadata: ["path": "\(path)"])
  }

  /// Logs a warning about a connection, unless it was logged for the same user within the last
  /// hour.
  private func note(_ warning: String, of peer: PeerID) {
    let user = hub.identity(of: peer)?.uid
    guard peers.users.isDue(warning, about: user) else { return }
    logger.warning("\(warning)", metadata: ["peer": "\(peer)", "user": "\(user ?? "none")"])
  }

  /// Gives a connection that may do nothing without signing in a deadline to sign in.
  func expectSignIn(of session: Session) {
    let peer = session.peer
    // Where it reads, it is known whether it may.
    guard !session.readsElsewhere, hub.needsSignIn(peer) else { return }
    let delay = TimeAmount.seconds(Int64(options.limits.signInSeconds))
    session.timers.signIn = eventLoop.assumeIsolated().scheduleTask(in: delay) {
      [weak self] in
      guard let self, hub.needsSignIn(peer) else { return }
      drop(peer, code: CloseCode.policyViolation, reason: "it did not sign in")
    }
  }

  // MARK: Strangers

  /// Sets how long a client's messages may be; called again whenever that changes.
  func allowMessages(of session: Session) {
    let isStranger = hub.identity(of: session.peer) == .anonymous
    session.connection.allow(isStranger: isStranger, messageBytes: messageBytes(of: session.peer))
  }

  /// The longest message that a client may send, in bytes.
  private func messageBytes(of peer: PeerID) -> Int {
    let limits = options.limits
    let isBounded = hub.identity(of: peer) == .anonymous && !hub.rulesInForce.mayLetNobodyWrite
    return isBounded ? min(limits.strangerBytes, limits.messageBytes) : limits.messageBytes
  }

  /// Refuses a request whose message is too long for its client.
  func refuseExcess(_ id: Int64, of peer: PeerID) {
    guard phase == .running, sessions[peer] != nil else { return }
    let bytes = messageBytes(of: peer)
    let response =
      bytes < options.limits.messageBytes
      ? ServerMessage.Response(
        .permissionDenied,
        payload: .json(
          .string("Permission denied: who sends more than \(bytes) bytes must sign in")
        )
      )
      : ServerMessage.Response(
        .tooBig,
        payload: .json(.string("the request is longer than \(bytes) bytes"))
      )
    perform([.send(peer, HubMessage(.response(id: id, response)))])
  }

  /// The connection that has been open the longest without being allowed anything.
  ///
  /// - Complexity: O(connections)
  var idlest: Session? {
    sessions.values.filter { !$0.readsElsewhere && hub.access.hasDoneNothing($0.peer) }
      .min { $0.begin < $1.begin }
  }

  /// The connection with an anonymous account that has been silent the longest.
  ///
  /// - Complexity: O(connections)
  var idlestGuest: Session? {
    // Where it reads, it is known how long it has been silent.
    sessions.values.filter { session in
      !session.readsElsewhere && session.inbox.isEmpty
        && hub.identity(of: session.peer)?.isGuest == true
    }.min { $0.lastMessage < $1.lastMessage }
  }

  // MARK: Users

  /// Counts a connection towards the user that it has signed in as.
  func identityChanged(_ peer: PeerID) {
    guard let session = sessions[peer] else { return }
    allowMessages(of: session)
    guard !peers.users.count(peer, towards: hub.limitedUser(of: peer)) else { return }
    drop(peer, code: CloseCode.policyViolation, reason: "its user has too many connections")
  }

  /// Counts a single write of a length, and returns how long its user should wait before the next.
  ///
  /// Administrators and clients that have not signed in are not rate limited.
  func writeDelay(of peer: PeerID, length: Int) -> TimeAmount? {
    guard let user = hub.limitedUser(of: peer) else { return nil }
    let delay = peers.users.write(length, by: user)
    return delay > 0 ? .milliseconds(delay) : nil
  }

  /// Pauses a client whose user writes too quickly, until it may write again.
  func limitWriteRate(_ session: Session, after length: Int) {
    guard let user = peers.users[session.peer] else { return }
    let delay = peers.users.write(length, by: user)
    guard delay > 0 else { return }
    pause(session, for: .writeRate)
    session.timers.write?.cancel()
    session.timers.write = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) {
      [weak self] in self?.resume(session, for: .writeRate)
    }
  }
}
