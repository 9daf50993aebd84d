internal import RealtimeCore

extension TreeHub {
  /// The number of listens that a peer has.
  package func listenCount(of peer: PeerID) -> Int {
    peers[peer]?.listens.count ?? 0
  }

  /// The number of writes that a peer has scheduled for its end.
  package func scheduledCount(of peer: PeerID) -> Int {
    peers[peer]?.scheduled.reduce(0) { $0 + $1.table.count } ?? 0
  }

  /// The number of listens of all peers.
  ///
  /// - Complexity: O(peers)
  package var listenCount: Int {
    peers.values.reduce(0) { $0 + $1.listens.count }
  }

  /// Whether a peer has to sign in before it may do anything, as far as that is known.
  ///
  /// It does when it has not, the rules have allowed it nothing so far, and they would not allow
  /// it to read everything.
  package func needsSignIn(_ peer: PeerID) -> Bool {
    guard let state = peers[peer], state.standing.identity == .anonymous, !state.isLetIn else {
      return false
    }
    return refusal(toRead: .root, .all, as: state.standing) != nil
  }

  /// Whether a peer has not signed in, and the rules have allowed it nothing so far.
  package func hasDoneNothing(_ peer: PeerID) -> Bool {
    peers[peer].map { $0.standing.identity == .anonymous && !$0.isLetIn } ?? false
  }

  /// How many bytes of messages wait until something is stored.
  package var waitingOutputBytes: Int { outbox.byteCount }

  /// What tells a peer the data of each of its listens as they are now.
  ///
  /// It takes the place of pushes that were left out: what the hub sends later follows from it, as
  /// long as everything that the hub has sent before was looked at.
  ///
  /// - Parameter peer: An open connection; others have no listens.
  /// - Returns: What it is to be sent, outer locations first.
  /// - Complexity: O(listens · log listens), and the size of small data
  package func currentData(of peer: PeerID) -> [HubOutput] {
    listens(of: peer).compactMap { currentData(of: peer, $0) }
  }

  /// The listens of a peer, outer locations first.
  package func listens(of peer: PeerID) -> [ListenKey] {
    (peers[peer]?.listens ?? []).sorted { $0.path < $1.path }
  }

  /// The same as ``currentData(of:)`` for one listen; nil when there is no such listen any more.
  ///
  /// - Complexity: The size of small data; large data are encoded by the owner
  package func currentData(of peer: PeerID, _ key: ListenKey) -> HubOutput? {
    guard peers[peer]?.listens.contains(key) == true else { return nil }
    let node = durableRoot[key.path]
    let tag = registry.tag(of: peer, key)
    if isComposed(node, for: peer) {
      return output(composing: .data(key, node, tag: tag), to: peer)
    }
    let push = ServerPush.data(path: key.path, key.query.evaluate(node), tag: tag)
    return output(.push(push), to: peer)
  }
}
