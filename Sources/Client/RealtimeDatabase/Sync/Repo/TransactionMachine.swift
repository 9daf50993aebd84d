import RealtimeCore

struct TransactionRequest: Sendable {
  let token: RequestToken
  let path: Path
  let appliesLocally: Bool
  let update: TransactionUpdate

  /// The registration that keeps the location's data up to date.
  var registration: Registration {
    Registration(owner: .transaction(token), kinds: [.value])
  }

  var spec: QuerySpec { QuerySpec(path: path, query: .all) }

  /// The step that reports the transaction's end.
  func completed(_ outcome: Outcome, committed: Bool = false, node: Node) -> TransactionEffect {
    .output(.transactionCompleted(token, outcome, committed: committed, node: node))
  }
}

struct Transaction: Sendable {
  /// The progress of a transaction: `ready` → `sent` → done; a stale answer leads back to `ready`.
  ///
  /// A local write over a sent transaction makes it `sentNeedsAbort`; a rejection makes it
  /// `needsAbort`, which the next run carries out.
  enum Status: Sendable, Equatable {
    /// Its output is computed and may be sent from this time of the monotonic clock on.
    case ready(notBefore: Int64)
    /// Its output was sent, in the write with this number.
    case sent(put: Int64)
    /// Like `sent`, but a stale answer ends the transaction with this outcome.
    case sentNeedsAbort(put: Int64, Outcome)
    /// The transaction ends with this outcome when the queue is next run.
    case needsAbort(Outcome)

    var isReady: Bool {
      if case .ready = self { true } else { false }
    }

    /// The number of the write it was sent with, or nil.
    var put: Int64? {
      switch self {
      case .sent(let put), .sentNeedsAbort(let put, _): put
      case .ready, .needsAbort: nil
      }
    }
  }

  let request: TransactionRequest
  /// The position of the transaction among all of the engine's transactions.
  let order: Int64
  var status = Status.ready(notBefore: .min)
  /// How often it was sent.
  var tries = 0
  /// The pending write that shows its output.
  var writeID: Int64
  /// The last input of its function.
  var input: Node
  /// The function's output for that input, server values unresolved.
  var output: Node
  /// The output with server values estimated.
  var estimate: Node

  var path: Path { request.path }
}

/// Work that transactions request, in order.
enum TransactionEffect: Sendable {
  case output(RepoOutput)
  /// Sends commands about listens to the server.
  case tell([ListenCommand])
  /// Queues a write with the outputs of some transactions, under a number.
  case put(WriteRequest, number: Int64)
}

/// Runs a client's transactions: when to run their functions, and when to send their outputs.
///
/// All transactions at and below the topmost location that has any form one queue. It is sent as a
/// single write, which applies only to the data from which the outputs were computed.
struct TransactionMachine: Sendable {
  private let configuration: RepoConfiguration
  private(set) var queue = TransactionQueue()
  /// What the calls since ``takeSteps()`` have asked for, in order.
  private var steps: [TransactionEffect] = []

  init(configuration: RepoConfiguration) {
    self.configuration = configuration
  }

  /// Removes and returns the work that the calls since the last one have asked for.
  mutating func takeSteps() -> [TransactionEffect] {
    defer { steps = [] }
    return steps
  }

  // MARK: Beginning

  /// Runs the function of a new transaction for the first time.
  mutating func begin(
    _ request: TransactionRequest,
    in data: inout ObservedData,
    time: RepoTime
  ) {
    if request.path.isInfo { return steps.append(request.completed(.readOnly, node: .empty)) }
    steps.append(data.register(request.registration, spec: request.spec, at: time))
    let input = data.sync.latest(at: request.path)
    guard case .commit(let output) = request.update(input) else {
      return finish(request, with: Outcome(.ok), node: input, in: &data, time: time)
    }
    var transaction = Transaction(
      request: request,
      order: data.makeNumber(),
      writeID: 0,
      input: input,
      output: .empty,
      estimate: .empty
    )
    let write = adopt(output, of: input, for: &transaction, in: &data, time: time)
    steps.append(data.applyTransaction(write, replacing: nil))
    queue.append(transaction)
    sendReady(around: request.path, in: &data, time: time)
  }

  /// Adopts the output of a transaction's function; returns the pending write that shows it.
  private func adopt(
    _ output: Node,
    of input: Node,
    for transaction: inout Transaction,
    in data: inout ObservedData,
    time: RepoTime
  ) -> PendingWrite {
    transaction.input = input
    transaction.output = output
    transaction.estimate = output.resolvingDeferred(
      existing: input,
      timestamp: data.serverTime(at: time)
    )
    transaction.writeID = data.makeNumber()
    // A function that turns no data into no data says nothing about data that may arrive later.
    let leavesNothing = input.isEmpty && transaction.estimate.isEmpty
    return PendingWrite(
      id: transaction.writeID,
      path: transaction.path,
      operation: .set(transaction.estimate),
      isVisible: transaction.request.appliesLocally && !leavesNothing
    )
  }

  // MARK: Sending

  /// Sends the queues at, above or below a path whose transactions are all ready and not pausing.
  mutating func sendReady(around path: Path, in data: inout ObservedData, time: RepoTime) {
    let tops = queue.topmost(on: path).map { [$0] } ?? queue.topmost(below: path)
    for top in tops {
      let members = queue.all(below: top)
      guard let start = Self.start(of: members) else { continue }
      if start > time.monotonic {
        let timer = RepoTimer.transactionRetry(top)
        steps.append(.output(.schedule(timer, after: start - time.monotonic)))
      } else if isCurrent(members, in: data) {
        put(members, at: top, in: &data)
      } else {
        rerun(at: top, in: &data, time: time)
      }
    }
  }

  /// The time before which a queue must not be sent; nil while one of its members is not ready.
  private static func start(of members: [Transaction]) -> Int64? {
    var start = Int64.min
    for member in members {
      guard case .ready(let time) = member.status else { return nil }
      start = max(start, time)
    }
    return start
  }

  /// Whether all outputs of a queue were computed from the current data.
  ///
  /// They may be outdated even if no event reported a change: the queue's pending writes hide data
  /// that arrived while another transaction was under way. The hash that is sent would match
  /// anyway.
  private func isCurrent(_ members: [Transaction], in data: ObservedData) -> Bool {
    var excluded = Set(members.map(\.writeID))
    for member in members {
      if data.sync.latest(at: member.path, excluding: excluded) != member.input { return false }
      excluded.remove(member.writeID)
    }
    return true
  }

  /// Sends the outputs of a queue in one write that applies only to the data they are based on.
  private mutating func put(_ members: [Transaction], at path: Path, in data: inout ObservedData) {
    let base = data.sync.latest(at: path, excluding: Set(members.map(\.writeID)))
    var node = base
    for member in members {
      if let location = member.path.relative(to: path) {
        node.update(at: location, to: member.output)
      }
    }
    let number = data.makeNumber()
    let request = WriteRequest(path: path, operation: .set(node), hash: base.hash)
    steps.append(.put(request, number: number))
    for var member in members {
      member.status = .sent(put: number)
      member.tries += 1
      queue.update(member)
    }
  }

  // MARK: Answers

  /// The write of some transactions was answered or is discarded.
  mutating func putEnded(
    _ number: Int64,
    at path: Path,
    with outcome: Outcome,
    in data: inout ObservedData,
    time: RepoTime
  ) {
    let sent = queue.all(below: path).filter { $0.status.put == number }
    if outcome.status == .ok {
      return commit(sent, at: path, in: &data, time: time)
    }
    for var transaction in sent {
      switch (transaction.status, outcome.status) {
      case (.sentNeedsAbort(_, let earlier), .dataStale):
        transaction.status = .needsAbort(earlier)
      case (_, .dataStale):
        let pause = pause(afterTries: transaction.tries, random: time.random)
        transaction.status = .ready(notBefore: time.monotonic + pause)
      case (_, _): transaction.status = .needsAbort(outcome)
      }
      queue.update(transaction)
    }
    rerun(at: path, in: &data, time: time)
  }

  /// The pause before a transaction that lost a race is resent, in milliseconds.
  ///
  /// It is random, so that clients that change the same data do not keep colliding.
  private func pause(afterTries tries: Int, random: Double) -> Int64 {
    guard tries > 1 else { return 0 }
    let longest = min(
      Double(configuration.transactionRetryDelay) * Double(1 << min(tries - 2, 32)),
      Double(configuration.maximumTransactionRetryDelay)
    )
    return Int64(longest * random)
  }

  private mutating func commit(
    _ sent: [Transaction],
    at path: Path,
    in data: inout ObservedData,
    time: RepoTime
  ) {
    var hasEvents = false
    for transaction in sent {
      let change = data.ackTransaction(transaction.writeID, isAccepted: true)
      hasEvents = hasEvents || change.hasEvents
      steps.append(change)
      queue.remove(transaction)
    }
    for transaction in sent {
      finish(
        transaction.request,
        with: Outcome(.ok),
        committed: true,
        node: transaction.estimate,
        in: &data,
        time: time
      )
    }
    if hasEvents {
      rerun(at: path, in: &data, time: time)
    } else {
      sendReady(around: path, in: &data, time: time)
    }
  }

  // MARK: Rerunning

  /// Reruns the transactions at a path on the current data, and ends those that must end.
  mutating func rerun(at path: Path, in data: inout ObservedData, time: RepoTime) {
    guard !queue.isEmpty else { return }
    let top = queue.topmost(on: path) ?? path
    let members = queue.all(below: top)
    if members.isEmpty { return }
    var excluded = Set(members.filter(\.status.isReady).map(\.writeID))
    for member in members {
      switch member.status {
      case .needsAbort(let outcome): abort(member, with: outcome, in: &data, time: time)
      case .ready:
        guard member.tries < configuration.transactionTries else {
          let outcome = Outcome(.maximumRetries, reason: "the data changed too often")
          abort(member, with: outcome, in: &data, time: time)
          continue
        }
        rerun(member, excluding: &excluded, in: &data, time: time)
      case .sent, .sentNeedsAbort: continue
      }
    }
    sendReady(around: top, in: &data, time: time)
  }

  private mutating func rerun(
    _ earlier: Transaction,
    excluding excluded: inout Set<Int64>,
    in data: inout ObservedData,
    time: RepoTime
  ) {
    var transaction = earlier
    let input = data.sync.latest(at: transaction.path, excluding: excluded)
    guard case .commit(let output) = transaction.request.update(input) else {
      transaction.input = input
      return abort(transaction, with: Outcome(.ok), in: &data, time: time)
    }
    excluded.remove(earlier.writeID)
    let write = adopt(output, of: input, for: &transaction, in: &data, time: time)
    steps.append(data.applyTransaction(write, replacing: earlier.writeID))
    queue.update(transaction)
  }

  private mutating func abort(
    _ transaction: Transaction,
    with outcome: Outcome,
    in data: inout ObservedData,
    time: RepoTime
  ) {
    queue.remove(transaction)
    steps.append(data.ackTransaction(transaction.writeID, isAccepted: false))
    finish(transaction.request, with: outcome, node: transaction.input, in: &data, time: time)
  }

  private mutating func finish(
    _ request: TransactionRequest,
    with outcome: Outcome,
    committed: Bool = false,
    node: Node,
    in data: inout ObservedData,
    time: RepoTime
  ) {
    steps.append(request.completed(outcome, committed: committed, node: node))
    steps.append(data.unregister(request.registration.owner, spec: request.spec, at: time))
  }

  // MARK: Ending

  /// The writes of all transactions, sent or not.
  var puts: [Int64] { queue.all(below: .root).compactMap(\.status.put) }

  /// The transactions below a path whose data the write with that number carries.
  func tokens(ofPut number: Int64, below path: Path) -> [RequestToken] {
    queue.all(below: path).filter { $0.status.put == number }.map(\.request.token)
  }

  /// The write of some transactions below a path was withdrawn before it was sent.
  mutating func putWithdrawn(_ number: Int64, below path: Path) {
    for var transaction in queue.all(below: path) where transaction.status.put == number {
      transaction.status = .ready(notBefore: .min)
      transaction.tries -= 1
      queue.update(transaction)
    }
  }

  /// Ends the transactions at, above and below a path.
  ///
  /// Those already sent end only if the answer says that they came too late.
  mutating func abort(
    overlapping path: Path,
    with outcome: Outcome,
    in data: inout ObservedData,
    time: RepoTime
  ) {
    for var transaction in queue.all(overlapping: path) {
      switch transaction.status {
      case .ready: abort(transaction, with: outcome, in: &data, time: time)
      case .needsAbort(let earlier): abort(transaction, with: earlier, in: &data, time: time)
      case .sent(let put):
        transaction.status = .sentNeedsAbort(put: put, outcome)
        queue.update(transaction)
      case .sentNeedsAbort: continue
      }
    }
  }
}

/// The transactions under way, by location and in the order they began.
struct TransactionQueue: Sendable {
  private var transactions: [Int64: Transaction] = [:]
  /// The orders of the transactions at each location.
  private var orders = PathIndex()

  var isEmpty: Bool { transactions.isEmpty }

  mutating func append(_ transaction: Transaction) {
    transactions[transaction.order] = transaction
    orders.insert(transaction.order, at: transaction.path)
  }

  mutating func update(_ transaction: Transaction) {
    transactions[transaction.order] = transaction
  }

  mutating func remove(_ transaction: Transaction) {
    transactions[transaction.order] = nil
    orders.remove(transaction.order, at: transaction.path)
  }

  func topmost(on path: Path) -> Path? { orders.topmost(on: path) }

  func topmost(below path: Path) -> [Path] { orders.topmost(below: path) }

  /// The transactions at and below a path, in the order they began.
  func all(below path: Path) -> [Transaction] {
    orders.below(path).sorted().compactMap { transactions[$0] }
  }

  /// The transactions at, above and below a path, in the order they began.
  func all(overlapping path: Path) -> [Transaction] {
    orders.overlapping(path).sorted().compactMap { transactions[$0] }
  }
}

extension [TransactionEffect] {
  fileprivate mutating func append(_ change: DataChange) {
    for output in change.outputs { append(.output(output)) }
  }

  fileprivate mutating func append(_ change: RegistrationChange) {
    if !change.commands.isEmpty { append(.tell(change.commands)) }
    for output in change.outputs { append(.output(output)) }
  }
}
