internal import RealtimeCore

extension TreeHub {
  /// Schedules a write for the disconnect of a peer, if the write would be allowed at this moment.
  mutating func schedule(
    _ operation: WriteOperation,
    at path: Path,
    of origin: RequestOrigin,
    at timestamp: Int64
  ) {
    guard let state = access.state(of: origin.peer) else { return }
    do throws(RequestError) {
      if let error = admissionError { throw error }
      let changes = try checked(operation, at: path, as: state, at: timestamp)
      _ = try permitted(changes, as: state, at: timestamp)
      addSteps(
        try disconnects.schedule(
          changes,
          as: state.identity,
          of: origin.peer,
          owner: connections[origin.peer]?.session
        )
      )
      access.markAuthorized(origin.peer)
      acknowledge(origin)
    } catch {
      refuse(origin, with: error)
    }
  }

  /// Cancels what a peer has scheduled at a path and below.
  mutating func cancelScheduled(at path: Path, of origin: RequestOrigin) {
    // If nothing is scheduled, there is nothing to store.
    if disconnects.count(of: origin.peer) > 0 {
      if let error = admissionError { return refuse(origin, with: error) }
      addSteps(disconnects.cancel(at: path, of: origin.peer))
      access.markAuthorized(origin.peer)
    }
    acknowledge(origin)
  }

  // MARK: Users who are shut out

  /// Withdraws the scheduled writes of users who have been shut out, to judge by `auth`.
  ///
  /// If the store fails and the writes cannot be withdrawn, they are checked again before they are
  /// applied.
  ///
  /// - Complexity: O(peers)
  mutating func withdrawScheduled(
    at timestamp: Int64,
    where isShutOut: (JSONValue) -> Bool
  ) -> [HubOutput] {
    now = timestamp
    addSteps(disconnects.withdraw { $0.auth.map(isShutOut) ?? false })
    return flush()
  }

  // MARK: The end of a connection

  /// Whether there are sessions without a connection that may be resumed.
  var hasSuspended: Bool { disconnects.hasSuspended }

  /// Resumes the session of a connection that has been opened for it.
  ///
  /// - Returns: Whether its scheduled writes are still waiting.
  mutating func resumeScheduled(of peer: PeerID) -> Bool {
    connections[peer]?.session.map { disconnects.resume($0, as: peer) } ?? false
  }

  /// Ends sessions that are not resumed, as ``Disconnects`` does, and applies their scheduled
  /// writes.
  mutating func endSuspended(
    at timestamp: Int64,
    after checks: Int? = nil,
    where isOver: (RemoteSession) -> Bool
  ) -> [HubOutput] {
    now = timestamp
    addSteps(disconnects.endSuspended(after: checks, where: isOver))
    if admissionError == nil { fireOverdueDisconnects(at: timestamp) }
    return flush()
  }

  /// Applies the scheduled writes of closed connections.
  mutating func fireOverdueDisconnects(at timestamp: Int64) {
    guard disconnects.hasOverdue else { return }
    for writes in disconnects.takeOverdue() {
      fire(writes, at: timestamp)
      durability.addStep()
      disconnects.noteFired(writes, step: durability.step)
    }
  }

  /// Applies scheduled writes as one commit, with the permissions of their owner.
  ///
  /// If the rules no longer allow them as a whole, each half is tried separately, and so on, so that
  /// those that have become forbidden do not hold up the others. So many tries find a few of them
  /// among many; what is left after that is not applied. A refusal is not reported: the peer is
  /// gone.
  private mutating func fire(_ writes: ScheduledWrites, at timestamp: Int64) {
    guard !access.isShutOut(writes.identity) else { return }
    let state = AuthState(identity: writes.identity)
    var tries = limits.disconnectTries
    fire(writes.table.changes[...], as: state, tries: &tries, at: timestamp)
  }

  private mutating func fire(
    _ changes: ArraySlice<Change>,
    as state: AuthState,
    tries: inout Int,
    at timestamp: Int64
  ) {
    guard tries > 0, !changes.isEmpty else { return }
    tries -= 1
    guard !fire(Array(changes), as: state, at: timestamp), changes.count > 1 else { return }
    let middle = changes.startIndex + changes.count / 2
    fire(changes[..<middle], as: state, tries: &tries, at: timestamp)
    fire(changes[middle...], as: state, tries: &tries, at: timestamp)
  }

  private mutating func fire(
    _ changes: [Change],
    as state: AuthState,
    at timestamp: Int64
  ) -> Bool {
    do throws(RequestError) {
      commit(try permitted(changes, as: state, at: timestamp), isMerge: false, at: timestamp)
      return true
    } catch {
      return false
    }
  }
}
