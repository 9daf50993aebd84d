internal import RealtimeCore

/// Reading once.
extension DatabaseQuery {
  /// Reads the data once, from the server unless it keeps them up to date here already.
  ///
  /// When it cannot be reached before ``DatabaseOptions/readDeadline``, or fails, the data that are
  /// known here are taken, be they of an earlier run; ``SnapshotMetadata/isFromCache`` tells. What the
  /// server forbids is not taken from here. Observers are not disturbed in either case.
  ///
  /// - Parameter block: Gets an error or the data; runs on the database's ``Database/callbackQueue``.
  public func getData(completion block: @escaping ((any Error)?, DataSnapshot?) -> Void) {
    let callback = Callback(block)
    repo.get(self) { result in
      switch result {
      case .success(let snapshot): callback.call(nil, snapshot)
      case .failure(let error): callback.call(error, nil)
      }
    }
  }

  /// Reads the data once, as ``getData(completion:)`` does.
  ///
  /// - Returns: The data.
  /// - Throws: ``DatabaseError`` when nothing is known here either: `permission_denied` (in any case),
  ///   `unavailable` after ``Database/goOffline()`` and when the server could not be reached in time, or
  ///   `timed_out` when it did not answer; see ``DatabaseOptions/readDeadline``;
  ///   `CancellationError` when the task is cancelled.
  public func getData() async throws -> DataSnapshot {
    // The repository keeps the deadline of reads itself.
    try await Answer<DataSnapshot>.awaited { answer in
      repo.get(self) { answer.finish($0.mapError { $0 as any Error }) }
    }
  }

  /// Waits for the first thing of a kind that happens, for as long as it takes.
  ///
  /// - Parameter eventType: What to wait for.
  /// - Returns: The data; none when the server refuses them or the task is cancelled, as this form
  ///   cannot throw. ``observeSingleEvent(of:deadline:)`` tells why.
  public func observeSingleEvent(of eventType: DataEventType) async -> DataSnapshot {
    await observeSingleEventAndPreviousSiblingKey(of: eventType).0
  }

  /// Waits for the first thing of a kind that happens, with the key before it, for as long as it takes.
  ///
  /// - Parameter eventType: What to wait for.
  /// - Returns: The data and the key before them in the query's order; no data when the server
  ///   refuses them or the task is cancelled.
  public func observeSingleEventAndPreviousSiblingKey(
    of eventType: DataEventType
  ) async -> (DataSnapshot, String?) {
    do {
      return try await first(eventType, within: nil)
    } catch {
      return (DataSnapshot(.empty, at: ref), nil)
    }
  }

  /// Waits for the first thing of a kind that happens, at most so long.
  ///
  /// - Parameters:
  ///   - eventType: What to wait for.
  ///   - deadline: How long.
  /// - Returns: The data.
  /// - Throws: ``DatabaseError``: the server's reason, or `timed_out`; `CancellationError` when the
  ///   task is cancelled.
  public func observeSingleEvent(
    of eventType: DataEventType,
    deadline: Duration
  ) async throws -> DataSnapshot {
    try await first(eventType, within: deadline).0
  }

  private func first(
    _ eventType: DataEventType,
    within deadline: Duration?
  ) async throws -> (DataSnapshot, String?) {
    let late = DatabaseError(
      .timedOut,
      path: path.description,
      reason: "nothing of this kind happened in time"
    )
    return try await Answer<(DataSnapshot, String?)>.awaited(
      within: deadline.map { ($0, late) },
      on: repo.eventLoop
    ) { answer in
      let handle = repo.observe(
        self,
        [eventType],
        once: true,
        Callback { _, snapshot, previousKey in answer.finish(.success((snapshot, previousKey))) },
        cancel: Callback { error in answer.finish(.failure(error)) }
      )
      answer.onGivenUp { [repo] in repo.removeObserver(handle) }
    }
  }
}
