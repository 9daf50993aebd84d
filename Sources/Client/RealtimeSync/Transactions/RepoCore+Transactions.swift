import RealtimeCore

extension RepoCore {
  mutating func beginTransaction(
    _ token: RequestToken,
    at path: Path,
    appliesLocally: Bool,
    _ update: @escaping TransactionUpdate
  ) {
    guard !path.isInfo else {
      let reason = "nothing can be written below /.info"
      outputs.append(
        .transactionCompleted(
          token,
          .permissionDenied,
          reason: reason,
          committed: false,
          node: .empty
        )
      )
      return
    }
    let place = Place(path: path, query: .all)
    register(Registration(owner: .transaction(token), kinds: [.value]), at: place)
    let input = sync.latest(at: path)
    guard case .commit(let output) = update(input) else {
      outputs.append(
        .transactionCompleted(token, .ok, reason: "", committed: false, node: input)
      )
      return unregister(.transaction(token), at: place)
    }
    var transaction = Transaction(
      token: token,
      path: path,
      update: update,
      appliesLocally: appliesLocally,
      order: makeNumber(),
      writeID: 0,
      input: input,
      output: .empty,
      estimate: .empty
    )
    raise(adopt(output, of: input, for: &transaction))
    transactions.append(transaction)
    sendReadyTransactions(around: path)
  }

  /// Takes the output of a transaction's function and shows it as a pending write.
  private mutating func adopt(
    _ output: Node,
    of input: Node,
    for transaction: inout Transaction
  ) -> [ViewEvent] {
    transaction.input = input
    transaction.output = output
    transaction.estimate = transaction.output.resolvingDeferred(
      existing: input,
      timestamp: estimatedServerTime
    )
    transaction.writeID = makeNumber()
    // A function that made nothing of nothing says nothing of the data that may turn out to be there.
    let isOfNothing = input.isEmpty && transaction.estimate.isEmpty
    return sync.write(
      PendingWrite(
        id: transaction.writeID,
        path: transaction.path,
        operation: .set(transaction.estimate),
        isVisible: transaction.appliesLocally && !isOfNothing
      )
    )
  }

  /// Sends the queues that a path lies in or above, if nothing in them is under way or pausing.
  mutating func sendReadyTransactions(around path: Path) {
    let places = transactions.topmost(on: path).map { [$0] } ?? transactions.topmost(below: path)
    for place in places {
      let queue = transactions.all(below: place)
      guard queue.allSatisfy({ $0.status == .ready }) else { continue }
      if let retry = queue.map(\.earliestRetry).max(), retry > now.monotonic {
        outputs.append(.schedule(.transactionRetry(place), after: retry - now.monotonic))
        continue
      }
      if isCurrent(queue) { send(queue, at: place) } else { rerunTransactions(at: place) }
    }
  }

  /// Whether all outputs of a queue were made of the present data.
  ///
  /// They need not be, although no event told of a change: the pending writes of the queue hide what
  /// came while another transaction was under way. The hash that is sent would match all the same.
  private func isCurrent(_ queue: [Transaction]) -> Bool {
    var excluded = Set(queue.map(\.writeID))
    for transaction in queue {
      if sync.latest(at: transaction.path, excluding: excluded) != transaction.input {
        return false
      }
      excluded.remove(transaction.writeID)
    }
    return true
  }

  /// Sends the outputs of a queue in one write that holds only for the data they were made of.
  private mutating func send(_ queue: [Transaction], at path: Path) {
    let base = sync.latest(at: path, excluding: Set(queue.map(\.writeID)))
    var data = base
    for transaction in queue {
      if let place = transaction.path.relative(to: path) {
        data.update(at: place, to: transaction.output)
      }
    }
    let request = WriteRequest(path: path, operation: .set(data), hash: base.hash)
    let number = makeNumber()
    enqueue(request, as: number, for: .transactions)
    for var transaction in queue {
      transaction.status = .sent
      transaction.tries += 1
      transaction.put = number
      transactions.update(transaction)
    }
  }

  /// Takes the answer to the write of some transactions.
  mutating func transactionsAnswered(
    _ number: Int64,
    at path: Path,
    _ status: StatusCode,
    _ reason: String
  ) {
    let sent = transactions.all(below: path).filter { $0.put == number }
    if status == .ok { return commit(sent, at: path) }
    for var transaction in sent {
      transaction.put = nil
      switch (transaction.status, status) {
      case (.sentNeedsAbort(let status, let reason), .dataStale):
        transaction.status = .needsAbort(status, reason: reason)
      case (_, .dataStale):
        transaction.status = .ready
        transaction.earliestRetry = now.monotonic + pause(afterTries: transaction.tries)
      case (_, _): transaction.status = .needsAbort(status, reason: reason)
      }
      transactions.update(transaction)
    }
    rerunTransactions(at: path)
  }

  /// The pause before a transaction that others were faster than is sent once more.
  ///
  /// It is left to chance, so that clients that change the same data do not meet again and again.
  private func pause(afterTries tries: Int) -> Int64 {
    guard tries > 1 else { return 0 }
    let longest = min(
      Double(configuration.transactionRetryDelay) * Double(1 << min(tries - 2, 32)),
      Double(configuration.maximumTransactionRetryDelay)
    )
    return Int64(longest * now.random)
  }

  private mutating func commit(_ sent: [Transaction], at path: Path) {
    var hasEvents = false
    for transaction in sent {
      let events = sync.answer(transaction.writeID, isAccepted: true)
      hasEvents = hasEvents || !events.isEmpty
      raise(events)
      transactions.remove(transaction)
    }
    for transaction in sent {
      finish(transaction, .ok, "", committed: true, node: transaction.estimate)
    }
    if hasEvents { rerunTransactions(at: path) } else { sendReadyTransactions(around: path) }
  }

  /// Runs the transactions at a path again on the present data, and ends those that must end.
  mutating func rerunTransactions(at path: Path) {
    guard !transactions.isEmpty else { return }
    let top = transactions.topmost(on: path) ?? path
    let queue = transactions.all(below: top)
    if queue.isEmpty { return }
    var excluded = Set(queue.filter { $0.status == .ready }.map(\.writeID))
    for transaction in queue {
      switch transaction.status {
      case .needsAbort(let status, let reason): abort(transaction, status, reason)
      case .ready:
        guard transaction.tries < configuration.transactionTries else {
          abort(transaction, .maximumRetries, "the data changed too often")
          continue
        }
        rerun(transaction, excluding: &excluded)
      case .sent, .sentNeedsAbort: continue
      }
    }
    sendReadyTransactions(around: top)
  }

  private mutating func rerun(_ earlier: Transaction, excluding excluded: inout Set<Int64>) {
    var transaction = earlier
    let input = sync.latest(at: transaction.path, excluding: excluded)
    guard case .commit(let output) = transaction.update(input) else {
      transactions.remove(transaction)
      raise(sync.answer(transaction.writeID, isAccepted: false))
      return finish(transaction, .ok, "", committed: false, node: input)
    }
    excluded.remove(earlier.writeID)
    let events = adopt(output, of: input, for: &transaction)
    raise(events + sync.answer(earlier.writeID, isAccepted: false))
    transactions.update(transaction)
  }

  private mutating func abort(
    _ transaction: Transaction,
    _ status: StatusCode,
    _ reason: String
  ) {
    transactions.remove(transaction)
    raise(sync.answer(transaction.writeID, isAccepted: false))
    finish(transaction, status, reason, committed: false, node: transaction.input)
  }

  private mutating func finish(
    _ transaction: Transaction,
    _ status: StatusCode,
    _ reason: String,
    committed: Bool,
    node: Node
  ) {
    outputs.append(
      .transactionCompleted(
        transaction.token,
        status,
        reason: reason,
        committed: committed,
        node: node
      )
    )
    unregister(.transaction(transaction.token), at: Place(path: transaction.path, query: .all))
  }

  static let overriddenReason = "a later write replaced the data of the transaction"

  /// Ends the transactions that a write overrides, and runs what depended on them again.
  mutating func overrideTransactions(at path: Path) {
    guard !transactions.isEmpty else { return }
    let top = transactions.topmost(on: path) ?? path
    abortTransactions(overlapping: path, .overriddenBySet, Self.overriddenReason)
    rerunTransactions(at: top)
  }

  /// Ends all transactions, those under way as soon as their answer says that they were too late.
  mutating func cancelTransactions(_ reason: String) {
    abortTransactions(overlapping: .root, .writeCanceled, reason)
  }

  private mutating func abortTransactions(
    overlapping path: Path,
    _ status: StatusCode,
    _ reason: String
  ) {
    for transaction in transactions.all(overlapping: path) { withdraw(transaction) }
    for var transaction in transactions.all(overlapping: path) {
      switch transaction.status {
      case .ready: abort(transaction, status, reason)
      case .needsAbort(let status, let reason): abort(transaction, status, reason)
      case .sent:
        transaction.status = .sentNeedsAbort(status, reason: reason)
        transactions.update(transaction)
      case .sentNeedsAbort: continue
      }
    }
  }

  /// Takes the write of a transaction back if it never left.
  private mutating func withdraw(_ transaction: Transaction) {
    guard let number = transaction.put, let write = writes[number], !write.wasSent else { return }
    writes.removeValue(forKey: number)
    for var member in transactions.all(below: write.request.path) where member.put == number {
      member.put = nil
      member.status = .ready
      member.tries -= 1
      transactions.update(member)
    }
  }

  /// Ends transactions whose write may or may not have been applied and cannot be sent again.
  mutating func failSentTransactions(where isLost: (OutstandingWrite) -> Bool) {
    for (number, write) in writes where write.wasSent && write.purpose == .transactions {
      if isLost(write) {
        writeAnswered(number, .disconnect, "the connection was lost before the answer came")
      }
    }
  }
}
