import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import RealtimeCore
import RealtimeTransport

/// Requests, which may come from any thread.
extension Repo {
  nonisolated var callbackQueue: DispatchQueue {
    get { shared.withLockedValue(\.callbackQueue) }
    set { shared.withLockedValue { $0.callbackQueue = newValue } }
  }

  /// Runs a block on the callback queue, after all earlier deliveries.
  nonisolated func deliver(_ block: @escaping @Sendable () -> Void) {
    callbackQueue.async(execute: block)
  }

  nonisolated func nextPushID() -> String {
    let now = serverTime
    let digits = options.keyDigits ?? { UInt8.random(in: 0..<64) }
    return shared.withLockedValue { $0.pushIDs.next(time: now, random: digits) }
  }

  nonisolated var target: ConnectionTarget { shared.withLockedValue(\.target) }

  /// Changes the server to connect to; returns false if the database has been used.
  nonisolated func retarget(host: String, port: Int) -> Bool {
    shared.withLockedValue { shared in
      guard !shared.isUsed else { return false }
      let namespace = shared.target.namespace
      shared.target = ConnectionTarget(host: host, port: port, namespace: namespace)
      shared.isTargetChosen = true
      return true
    }
  }

  nonisolated var settings: Settings { shared.withLockedValue(\.settings) }

  nonisolated func change(_ body: (inout Settings) -> Void) {
    let isLate = shared.withLockedValue { shared in
      body(&shared.settings)
      return shared.isUsed || shared.isReferenced
    }
    CallerContract.require(!isLate, "set persistence before the first reference to the database")
  }

  nonisolated func get(
    _ query: DatabaseQuery,
    isKept: Bool = true,
    completion: @escaping @Sendable (Result<DataSnapshot, DatabaseError>) -> Void
  ) {
    request(.get(query, completion)) {
      .get($0, path: query.path, query: query.query, isKept: isKept)
    }
  }

  nonisolated func nextNumber() -> Int64 {
    shared.withLockedValue { shared in
      shared.lastNumber += 1
      return shared.lastNumber
    }
  }

  nonisolated func request(
    _ completion: Completion,
    input: @escaping @Sendable (RequestToken) -> RepoInput
  ) {
    let token = RequestToken(nextNumber())
    let cause = Database.causeOfWrites
    submit { repo in
      guard !repo.isClosed else { return repo.fail(completion) }
      repo.callers.add(completion, for: token)
      repo.handle(input(token), because: cause)
      repo.startReadDeadline(token)
    }
  }

  /// Runs work on the event loop; work submitted by one thread runs in order.
  nonisolated func submit(
    isUse: Bool = true,
    _ body: @escaping @Sendable (isolated Repo) -> Void
  ) {
    if isUse {
      let isTargetChosen = shared.withLockedValue { shared in
        shared.isUsed = true
        return shared.isTargetChosen
      }
      CallerContract.require(isTargetChosen, Database.notConfigured)
    }
    eventLoop.execute { self.assumeIsolated { $0.run(isUse: isUse, body) } }
  }
}

/// Adding and removing observers, from any thread.
extension Repo {
  nonisolated func observe(
    _ query: DatabaseQuery,
    events: Set<DataEventType>,
    once isOnce: Bool = false,
    block: Callback<(DataEventType, DataSnapshot, String?) -> Void>,
    cancel: Callback<((any Error) -> Void)?>
  ) -> DatabaseHandle {
    let number = nextNumber()
    let spec = QuerySpec(path: query.path, query: query.query)
    shared.withLockedValue { $0.observers.add(number, of: spec) }
    submit { repo in
      // It may have been removed in the meantime.
      guard repo.isActive(number) else { return }
      let id = ListenerID(number)
      let listener = Listener(query: query, block: block, cancel: cancel, isOnce: isOnce)
      guard !repo.isClosed else { return repo.fail(listener, number: number) }
      repo.callers.listeners[id] = listener
      repo.handle(.observe(id, path: query.path, query: query.query, events: events))
    }
    return DatabaseHandle(number)
  }

  /// Removes an observer of a query, or of any query at the location if `query` is the default one.
  nonisolated func removeObserver(_ handle: DatabaseHandle, of query: DatabaseQuery) {
    guard let number = Int64(exactly: handle) else { return }
    let observed = shared.withLockedValue { $0.observers[number] }
    if observed?.isWithin(query) == true { removeObserver(handle) }
  }

  nonisolated func removeObserver(_ handle: DatabaseHandle) {
    guard let number = Int64(exactly: handle), deactivate(number) else { return }
    submit { $0.stop(ListenerID(number)) }
  }

  nonisolated func removeAllObservers(of query: DatabaseQuery) {
    let removed = shared.withLockedValue { shared in
      let matching = shared.observers.all(at: query.path).filter { $0.spec.isWithin(query) }
      for (number, _) in matching { shared.observers.remove(number) }
      // Observers of all data go last; removed earlier, they would leave the remaining queries in
      // need of listens of their own for a moment.
      return matching.sorted {
        let loadsAllData = ($0.spec.query.loadsAllData, $1.spec.query.loadsAllData)
        return loadsAllData.0 == loadsAllData.1 ? $0.number < $1.number : loadsAllData.1
      }
    }
    let numbers = removed.map(\.number)
    submit { repo in
      for number in numbers { repo.stop(ListenerID(number)) }
    }
  }

  /// Whether an observer may be called with an event that was raised before it was removed.
  nonisolated func mayCall(_ number: Int64) -> Bool {
    shared.withLockedValue { !$0.silencesRemovedObservers || $0.observers[number] != nil }
  }

  /// Whether an observer has not been removed.
  nonisolated func isActive(_ number: Int64) -> Bool {
    shared.withLockedValue { $0.observers[number] != nil }
  }

  /// Stops calls to an observer; returns false if they had been stopped already.
  nonisolated func deactivate(_ number: Int64) -> Bool {
    shared.withLockedValue { $0.observers.remove(number) }
  }
}

/// Observers by number and by location.
struct ObserverTable {
  private var specs: [Int64: QuerySpec] = [:]
  private var numbers: [Path: Set<Int64>] = [:]

  subscript(number: Int64) -> QuerySpec? { specs[number] }

  mutating func add(_ number: Int64, of spec: QuerySpec) {
    specs[number] = spec
    numbers[spec.path, default: []].insert(number)
  }

  /// Removes an observer; returns whether there was one.
  @discardableResult
  mutating func remove(_ number: Int64) -> Bool {
    guard let spec = specs.removeValue(forKey: number) else { return false }
    numbers[spec.path]?.remove(number)
    if numbers[spec.path]?.isEmpty == true { numbers[spec.path] = nil }
    return true
  }

  /// The observers of a location, in no order.
  ///
  /// - Complexity: O(result)
  func all(at path: Path) -> [(number: Int64, spec: QuerySpec)] {
    (numbers[path] ?? []).compactMap { number in specs[number].map { (number, $0) } }
  }
}

extension QuerySpec {
  /// Whether this is the same query, or `other` is the default query of the same location.
  fileprivate func isWithin(_ other: DatabaseQuery) -> Bool {
    path == other.path && (other.query.isDefault || query == other.query)
  }
}

extension Repo {
  nonisolated func transaction(
    at reference: DatabaseReference,
    localEvents: Bool,
    block: @escaping @Sendable (MutableData) -> TransactionResult,
    completion: @escaping TransactionCompletion
  ) {
    // Assigning a value that cannot be stored ends the transaction with an error of its own.
    let problem = NIOLockedValueBox<DatabaseError?>(nil)
    // What the last run of the block wrote, which rules may refuse.
    let written = NIOLockedValueBox(Node.empty)
    let finish: TransactionCompletion = { error, committed, snapshot in
      let named = (error as? DatabaseError)?.naming(
        .write(.set(written.withLockedValue { $0 }), at: reference.path)
      )
      completion(named ?? error ?? problem.withLockedValue { $0 }, committed, snapshot)
    }
    request(.transaction(reference, finish)) { token in
      .transaction(token, path: reference.path, appliesLocally: localEvents) { node in
        switch block(MutableData(node)).verdict {
        case .abort: return .abort
        case .commit(let node, let found):
          let invalid = Validation.problem(withWritten: node, at: reference.path)
          guard let reason = found?.reason ?? invalid else {
            written.withLockedValue { $0 = node }
            return .commit(node)
          }
          let error = DatabaseError(.invalidData, at: reference.path, reason: reason)
          problem.withLockedValue { $0 = error }
          return .abort
        }
      }
    }
  }
}
