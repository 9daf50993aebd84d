package import RealtimeCore

// Safety: every stored property is an immutable `Sendable` value, in subclasses as well.
/// A location with an order, a range and a limit, which can be observed and read.
///
/// Queries are values in all but name: each method that narrows one returns a new query and leaves
/// the old one unchanged. Invalid combinations (two orders, two limits, a range by key with a
/// number) are programmer errors; they trap where the original throws.
public class DatabaseQuery: CustomStringConvertible, @unchecked Sendable {
  /// The database.
  public let database: Database
  package let path: Path
  package let query: Query
  /// Whether an order was set explicitly, even if it is the default one.
  let isOrdered: Bool

  init(database: Database, path: Path, query: Query, isOrdered: Bool = false) {
    self.database = database
    self.path = path
    self.query = query
    self.isOrdered = isOrdered
  }

  var repo: Repo { database.repo }

  /// The path, and the order, range and limit in the terms of the protocol.
  public var description: String { "(\(path) \(query.json.text))" }

  /// The location without the order, range and limit.
  public var ref: DatabaseReference { DatabaseReference(database: database, path: path) }
}

extension DatabaseQuery: Hashable {
  /// Whether both are the same query at the same location of the same database.
  public static func == (left: DatabaseQuery, right: DatabaseQuery) -> Bool {
    left.database === right.database && left.path == right.path && left.query == right.query
  }

  /// Feeds the location and the query into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(database))
    hasher.combine(path)
    hasher.combine(query)
  }
}

/// Orders, ranges and limits.
///
/// Values sort in the order null, false, true, numbers, strings, objects. Children of equal value
/// sort by key, integer keys first. These are programmer errors and trap: two orders, two limits,
/// two bounds on one side, a bound that is not a leaf value, a bound other than a string with
/// ``queryOrderedByKey()``, a boolean bound with ``queryOrderedByPriority()`` or without an order, a
/// child key that no database can have, and one together with ``queryOrderedByKey()``.
extension DatabaseQuery {
  /// Orders the children by the value at a path below each of them.
  ///
  /// Passing an empty path, or one that no database can have, is a programmer error and traps. For
  /// text from outside the program, use ``queryOrdered(validatingChild:)``.
  public func queryOrdered(byChild path: String) -> DatabaseQuery {
    let child = Path(wire: path)
    if let problem = child.isRoot ? "it is empty" : Validation.problem(withPath: child) {
      CallerContract.fail(
        """
        cannot order by "\(path)": \(problem); for text from outside, use \
        queryOrdered(validatingChild:)
        """
      )
    }
    return ordered(by: .child(child))
  }

  /// Orders the children by the value at a path that text from outside the program is part of.
  ///
  /// - Parameter path: The path below each child; slashes separate its keys.
  /// - Returns: The query.
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what is wrong with the path.
  public func queryOrdered(
    validatingChild path: String
  ) throws(DatabaseError) -> DatabaseQuery {
    let child = try Path(validating: path)
    return ordered(by: .child(child))
  }

  /// Orders the children by their keys.
  public func queryOrderedByKey() -> DatabaseQuery { ordered(by: .key) }

  /// Orders the children by their values.
  public func queryOrderedByValue() -> DatabaseQuery { ordered(by: .value) }

  /// Orders the children by their priorities, which is the default.
  public func queryOrderedByPriority() -> DatabaseQuery { ordered(by: .priority) }

  /// Keeps only the first children, at most `limit` of them.
  ///
  /// A limit of 0, or of more than 2,147,483,647, is a programmer error and traps.
  public func queryLimited(toFirst limit: UInt) -> DatabaseQuery { limited(to: limit, .first) }

  /// Keeps only the last children, at most `limit` of them.
  ///
  /// A limit of 0, or of more than 2,147,483,647, is a programmer error and traps.
  public func queryLimited(toLast limit: UInt) -> DatabaseQuery { limited(to: limit, .last) }

  /// Keeps the children from a value on; of the children with that value, those from a key on.
  public func queryStarting(atValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    starting(bound(value, key: key))
  }

  /// Keeps the children after a value and, given a key, those with that value and a later key.
  public func queryStarting(afterValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    starting(bound(value, key: key, isInclusive: false))
  }

  /// Keeps the children up to a value; of the children with that value, those up to a key.
  public func queryEnding(atValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    ending(bound(value, key: key))
  }

  /// Keeps the children before a value and, given a key, those with that value and an earlier key.
  public func queryEnding(beforeValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    ending(bound(value, key: key, isInclusive: false))
  }

  /// Keeps the children with a value or, given a key, only the one with that key.
  public func queryEqual(toValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    starting(bound(value, key: key)).ending(bound(value, key: key))
  }

  private func ordered(by index: Index) -> DatabaseQuery {
    CallerContract.require(!isOrdered, "a query can be ordered only once")
    return narrowed(isOrdered: true) { $0.index = index }
  }

  private func limited(to count: UInt, _ side: Query.LimitSide) -> DatabaseQuery {
    CallerContract.require(query.limit == nil, "a query can be limited only once")
    CallerContract.require(
      count > 0 && count <= UInt(Int32.max),
      "a limit must be 1 to \(Int32.max), not \(count)"
    )
    return narrowed { $0.limit = Query.Limit(Int(count), side: side) }
  }

  private func starting(_ bound: QueryBound) -> DatabaseQuery {
    CallerContract.require(query.start == nil, "a query can have only one start")
    return narrowed { $0.start = bound }
  }

  private func ending(_ bound: QueryBound) -> DatabaseQuery {
    CallerContract.require(query.end == nil, "a query can have only one end")
    return narrowed { $0.end = bound }
  }

  private func bound(_ value: Any?, key: String?, isInclusive: Bool = true) -> QueryBound {
    let expectation = "a bound must be null, a boolean, a number or a string"
    let json: JSONValue
    let node: Node
    do throws(DatabaseError) {
      json = try NodeConversion.json(value)
      node = try NodeConversion.node(json: json)
    } catch {
      CallerContract.fail("\(expectation): \(error.reason)")
    }
    CallerContract.require(json.members == nil && json.elements == nil, expectation)
    if let key, let problem = Validation.problem(withKey: key) {
      CallerContract.fail("\"\(key)\" is not a valid key: \(problem); see Database.escapedKey")
    }
    return QueryBound(
      node.leafValue,
      key: key.map { .key(ChildKey($0)) },
      isInclusive: isInclusive
    )
  }

  private func narrowed(
    isOrdered: Bool? = nil,
    _ change: (inout Query) -> Void
  ) -> DatabaseQuery {
    var narrowed = query
    change(&narrowed)
    narrowed.start = narrowed.start?.excluding(upTo: .maximum, in: narrowed.index)
    narrowed.end = narrowed.end?.excluding(upTo: .minimum, in: narrowed.index)
    Self.check(narrowed)
    return DatabaseQuery(
      database: database,
      path: path,
      query: narrowed,
      isOrdered: isOrdered ?? self.isOrdered
    )
  }

  private static func check(_ query: Query) {
    for bound in [query.start, query.end].compactMap(\.self) {
      switch (query.index, bound.value) {
      case (.priority, .bool):
        CallerContract.fail("a query ordered by priority cannot have a boolean bound")
      case (.key, .string):
        CallerContract.require(bound.key == nil, "a query ordered by key takes no extra child key")
      case (.key, _):
        CallerContract.fail("a query ordered by key needs string bounds")
      case (_, _): continue
      }
    }
  }
}

extension QueryBound {
  /// The bound; if it is exclusive without a key, with the key that excludes all of its value.
  ///
  /// A server takes a missing key for the one that excludes no child with the value.
  fileprivate func excluding(upTo key: KeyPart, in index: Index) -> QueryBound {
    if case .key? = self.key { return self }
    return isInclusive
      ? self : QueryBound(value, key: index == .key ? nil : key, isInclusive: false)
  }
}

extension DatabaseQuery {
  /// Calls a block for the present data and each later event, until the observer is removed.
  ///
  /// - Parameters:
  ///   - eventType: The kind of event.
  ///   - block: Gets the data; runs on the database's ``Database/callbackQueue``, in order.
  /// - Returns: A handle for removing the observer.
  @discardableResult
  public func observe(
    _ eventType: DataEventType,
    with block: @escaping (DataSnapshot) -> Void
  ) -> DatabaseHandle {
    observe(eventType, with: block, withCancel: nil)
  }

  /// Calls a block for the present data and each later event, and another on cancellation.
  ///
  /// - Parameters:
  ///   - eventType: The kind of event.
  ///   - block: Gets the data; runs on the database's ``Database/callbackQueue``, in order.
  ///   - cancelBlock: Gets the reason why no more events will come; the observer has been removed
  ///     by then.
  /// - Returns: A handle for removing the observer.
  @discardableResult
  public func observe(
    _ eventType: DataEventType,
    with block: @escaping (DataSnapshot) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)?
  ) -> DatabaseHandle {
    observe(
      eventType,
      andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) },
      withCancel: cancelBlock
    )
  }

  /// Calls a block with the data and the key of the preceding sibling.
  ///
  /// - Parameters:
  ///   - eventType: The kind of event.
  ///   - block: Gets the data and the preceding key in the query's order, nil for the first child.
  ///   - cancelBlock: Gets the reason why no more events will come; the observer has been removed
  ///     by then.
  /// - Returns: A handle for removing the observer.
  @discardableResult
  public func observe(
    _ eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) -> DatabaseHandle {
    observe([eventType], with: { block($1, $2) }, withCancel: cancelBlock)
  }

  /// Calls a block for each event of several kinds, in the order in which the events happen.
  ///
  /// A single observer of several kinds keeps their relative order; separate observers do not.
  ///
  /// - Parameters:
  ///   - eventTypes: The kinds of events.
  ///   - block: Gets the kind, the data and the preceding key in the query's order.
  ///   - cancelBlock: Gets the reason why no more events will come; the observer has been removed
  ///     by then.
  /// - Returns: A handle for removing the observer.
  @discardableResult
  public func observe(
    _ eventTypes: Set<DataEventType>,
    with block: @escaping (DataEventType, DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) -> DatabaseHandle {
    repo.observe(
      self,
      events: eventTypes,
      block: Callback(block),
      cancel: Callback(cancelBlock)
    )
  }

  /// Calls a block once, with the first event of a kind.
  ///
  /// - Parameters:
  ///   - eventType: The kind of event.
  ///   - block: Gets the data; runs on the database's ``Database/callbackQueue``.
  ///   - cancelBlock: Gets the reason why no event will come.
  public func observeSingleEvent(
    of eventType: DataEventType,
    with block: @escaping (DataSnapshot) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) {
    observeSingleEvent(
      of: eventType,
      andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) },
      withCancel: cancelBlock
    )
  }

  /// Calls a block once, with the first event of a kind and the key of the preceding sibling.
  ///
  /// - Parameters:
  ///   - eventType: The kind of event.
  ///   - block: Gets the data and the preceding key in the query's order, nil for the first child.
  ///   - cancelBlock: Gets the reason why no event will come.
  public func observeSingleEvent(
    of eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) {
    _ = repo.observe(
      self,
      events: [eventType],
      once: true,
      block: Callback { block($1, $2) },
      cancel: Callback(cancelBlock)
    )
  }

  /// Removes an observer of this query; it is not told of anything that happens later.
  ///
  /// As in the original, it is still told of events that have happened and not reached the callback
  /// queue.
  ///
  /// If this query is the whole location, the observer may belong to any query at the location.
  /// Observers of other locations are not removed. A block that is running on another thread still
  /// finishes.
  public func removeObserver(withHandle handle: DatabaseHandle) {
    repo.removeObserver(handle, of: self)
  }

  /// Removes all observers of this query, or of every query here if this is the whole location.
  public func removeAllObservers() {
    repo.removeAllObservers(of: self)
  }

  /// Starts or stops keeping the data up to date without an observer, so that reads return at once.
  public func keepSynced(_ keepSynced: Bool) {
    repo.submit { [path, query] in
      $0.handle(.keepSynced(path: path, query: query, keepSynced))
    }
  }
}

extension DatabaseQuery {
  /// Reads the server's data once and keeps none of it, neither in memory nor on disk.
  ///
  /// It serves to read a long list page by page. The result does not include unacknowledged writes.
  ///
  /// - Parameter block: Gets the data or an error; runs on the database's ``Database/callbackQueue``.
  package func peek(
    completion block: @escaping @Sendable (Result<DataSnapshot, DatabaseError>) -> Void
  ) {
    repo.get(self, isKept: false, completion: block)
  }

  /// Reads the data once, from the server unless a listen already keeps it up to date locally.
  ///
  /// If the server fails or cannot be reached before ``DatabaseOptions/readDeadline``, the result
  /// is the data known locally, possibly from an earlier run, with ``SnapshotMetadata/isFromCache``
  /// set. If the server denies permission, the read fails regardless of local data. Observers are
  /// not affected in either case.
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

  /// Reads the data once, for blocks that take a snapshot in any case; after an error it is empty.
  ///
  /// - Parameter block: Gets an error or the data; runs on the database's ``Database/callbackQueue``.
  @_disfavoredOverload
  public func getData(completion block: @escaping ((any Error)?, DataSnapshot) -> Void) {
    getData { [ref] (error: (any Error)?, snapshot: DataSnapshot?) in
      block(error, snapshot ?? DataSnapshot(.empty, at: ref))
    }
  }

  /// Reads the data once, as the form with a block does.
  ///
  /// - Returns: The data.
  /// - Throws: ``DatabaseError``. Always: `permission_denied`. If no data is known locally either:
  ///   `unavailable` after ``Database/goOffline()`` or, with the reason why, when the server could
  ///   not be reached in time, and `timed_out` when it did not answer (see
  ///   ``DatabaseOptions/readDeadline``). `cancelled` when the task is cancelled.
  public func getData() async throws -> DataSnapshot {
    // The repository enforces the read deadline.
    try await Answer<DataSnapshot>.awaited(cancellation: .cancelled(at: path)) { answer in
      repo.get(self) { answer.finish($0.mapError { $0 as any Error }) }
    }
  }

  /// Waits for the first event of a kind, without a deadline.
  ///
  /// - Parameter eventType: The kind of event.
  /// - Returns: The data; none if the server denies access, the database is closed or the task is
  ///   cancelled, because this form cannot throw. ``observeSingleEvent(of:deadline:)`` throws the
  ///   reason.
  public func observeSingleEvent(of eventType: DataEventType) async -> DataSnapshot {
    await observeSingleEventAndPreviousSiblingKey(of: eventType).0
  }

  /// Waits for the first event of a kind and the preceding key, without a deadline.
  ///
  /// - Parameter eventType: The kind of event.
  /// - Returns: The data and the preceding key in the query's order; no data if the server denies
  ///   access, the database is closed or the task is cancelled.
  public func observeSingleEventAndPreviousSiblingKey(
    of eventType: DataEventType
  ) async -> (DataSnapshot, String?) {
    do {
      return try await first(eventType, within: nil)
    } catch {
      return (DataSnapshot(.empty, at: ref), nil)
    }
  }

  /// Waits for the first event of a kind, with a deadline.
  ///
  /// - Parameters:
  ///   - eventType: The kind of event.
  ///   - deadline: How long to wait at most.
  /// - Returns: The data.
  /// - Throws: ``DatabaseError``, with the server's reason, `timed_out`, or `cancelled` when the
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
    let late = DatabaseError(.timedOut, at: path, reason: "no such event came in time")
    return try await Answer<(DataSnapshot, String?)>.awaited(
      within: deadline.map { ($0, { late }) },
      on: repo.eventLoop,
      cancellation: .cancelled(at: path)
    ) { answer in
      let handle = repo.observe(
        self,
        events: [eventType],
        once: true,
        block: Callback { _, snapshot, previousKey in
          answer.finish(.success((snapshot, previousKey)))
        },
        cancel: Callback { error in answer.finish(.failure(error)) }
      )
      answer.onGivenUp { [repo] in repo.removeObserver(handle) }
    }
  }
}
