package import RealtimeTree

// Safety: every stored property is an immutable `Sendable` value, also in subclasses.
/// A location with an order, a range and a limit: what can be observed and read.
///
/// Queries are values in all but name: each method that narrows one gives a new query and leaves the
/// old one as it was. Combining what cannot be combined (two orders, two limits, a key range without
/// key order) is a programmer error; it traps, as it throws in the original.
public class DatabaseQuery: @unchecked Sendable {
  package let repo: Repo
  package let path: Path
  package let query: Query

  package init(repo: Repo, path: Path, query: Query) {
    self.repo = repo
    self.path = path
    self.query = query
  }

  /// The location without order, range and limit.
  public var ref: DatabaseReference { DatabaseReference(repo: repo, path: path) }

  // MARK: Observing

  /// Calls a block now and whenever something of this kind happens, until the observer is removed.
  ///
  /// - Parameters:
  ///   - eventType: What to be told of.
  ///   - block: Gets the data; runs on the database's ``Database/callbackQueue``, in order.
  /// - Returns: A handle to remove the observer by.
  @discardableResult
  public func observe(
    _ eventType: DataEventType,
    with block: @escaping @Sendable (DataSnapshot) -> Void
  ) -> DatabaseHandle {
    observe(eventType, with: block, withCancel: nil)
  }

  /// Calls a block now and whenever something of this kind happens, and another when it can no longer.
  ///
  /// - Parameters:
  ///   - eventType: What to be told of.
  ///   - block: Gets the data; runs on the database's ``Database/callbackQueue``, in order.
  ///   - cancelBlock: Gets the reason why no more will come; the observer is then gone.
  /// - Returns: A handle to remove the observer by.
  @discardableResult
  public func observe(
    _ eventType: DataEventType,
    with block: @escaping @Sendable (DataSnapshot) -> Void,
    withCancel cancelBlock: (@Sendable (any Error) -> Void)?
  ) -> DatabaseHandle {
    observe(
      eventType,
      andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) },
      withCancel: cancelBlock
    )
  }

  /// Calls a block with the data and the key of the sibling before it.
  ///
  /// - Parameters:
  ///   - eventType: What to be told of.
  ///   - block: Gets the data and the key before it in the query's order, nil for the first.
  ///   - cancelBlock: Gets the reason why no more will come; the observer is then gone.
  /// - Returns: A handle to remove the observer by.
  @discardableResult
  public func observe(
    _ eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping @Sendable (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: (@Sendable (any Error) -> Void)? = nil
  ) -> DatabaseHandle {
    repo.observe(self, [eventType]) { _, snapshot, previousKey in
      block(snapshot, previousKey)
    } cancel: { error in
      cancelBlock?(error)
    }
  }

  /// Calls a block for everything that happens to the children, in the order in which it happens.
  ///
  /// One observer of several kinds keeps their order, which several observers cannot.
  ///
  /// - Parameters:
  ///   - eventTypes: What to be told of.
  ///   - block: Gets the kind, the data, and the key before it in the query's order.
  ///   - cancelBlock: Gets the reason why no more will come; the observer is then gone.
  /// - Returns: A handle to remove the observer by.
  @discardableResult
  public func observe(
    _ eventTypes: Set<DataEventType>,
    with block: @escaping @Sendable (DataEventType, DataSnapshot, String?) -> Void,
    withCancel cancelBlock: (@Sendable (any Error) -> Void)? = nil
  ) -> DatabaseHandle {
    repo.observe(self, eventTypes, block) { cancelBlock?($0) }
  }

  /// Calls a block once, with the first thing of this kind that happens.
  ///
  /// - Parameters:
  ///   - eventType: What to be told of.
  ///   - block: Gets the data; runs on the database's ``Database/callbackQueue``.
  ///   - cancelBlock: Gets the reason why nothing will come.
  public func observeSingleEvent(
    of eventType: DataEventType,
    with block: @escaping @Sendable (DataSnapshot) -> Void,
    withCancel cancelBlock: (@Sendable (any Error) -> Void)? = nil
  ) {
    _ = repo.observe(self, [eventType], once: true) { _, snapshot, _ in
      block(snapshot)
    } cancel: { error in
      cancelBlock?(error)
    }
  }

  /// Removes an observer; its block is not called again after this returns on the callback queue.
  public func removeObserver(withHandle handle: DatabaseHandle) {
    repo.removeObserver(handle)
  }

  /// Removes all observers of this query.
  public func removeAllObservers() {
    repo.removeAllObservers(of: self)
  }

  // MARK: Reading

  /// Reads the data once, from the server unless they are being observed already.
  ///
  /// - Parameter block: Gets an error or the data; runs on the database's ``Database/callbackQueue``.
  public func getData(completion block: @escaping @Sendable ((any Error)?, DataSnapshot?) -> Void) {
    repo.get(self) { result in
      switch result {
      case .success(let snapshot): block(nil, snapshot)
      case .failure(let error): block(error, nil)
      }
    }
  }

  /// Reads the data once, from the server unless they are being observed already.
  ///
  /// - Returns: The data.
  /// - Throws: ``DatabaseError``: `permission_denied`, or `timed_out` when the server cannot be reached.
  public func getData() async throws -> DataSnapshot {
    try await withCheckedThrowingContinuation { continuation in
      repo.get(self) { continuation.resume(with: $0.mapError { $0 as any Error }) }
    }
  }

  // MARK: Narrowing

  /// Orders the children by the value at a path below each.
  public func queryOrdered(byChild path: String) -> DatabaseQuery {
    ordered(by: .child(Path(wire: path)))
  }

  /// Orders the children by their keys.
  public func queryOrderedByKey() -> DatabaseQuery { ordered(by: .key) }

  /// Orders the children by their values.
  public func queryOrderedByValue() -> DatabaseQuery { ordered(by: .value) }

  /// Orders the children by their priorities, as is the default.
  public func queryOrderedByPriority() -> DatabaseQuery { ordered(by: .priority) }

  /// Keeps the first children only.
  public func queryLimited(toFirst limit: UInt) -> DatabaseQuery { limited(to: limit, .first) }

  /// Keeps the last children only.
  public func queryLimited(toLast limit: UInt) -> DatabaseQuery { limited(to: limit, .last) }

  /// Keeps the children from a value (and key) on.
  public func queryStarting(atValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    narrowed { $0.start = bound(value, key) }
  }

  /// Keeps the children up to a value (and key).
  public func queryEnding(atValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    narrowed { $0.end = bound(value, key) }
  }

  /// Keeps the children of one value (and key).
  public func queryEqual(toValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    narrowed {
      $0.start = bound(value, key)
      $0.end = bound(value, key)
    }
  }

  private func ordered(by index: Index) -> DatabaseQuery {
    precondition(query.index == .priority, "a query can be ordered only once")
    return narrowed { $0.index = index }
  }

  private func limited(to count: UInt, _ side: Query.LimitSide) -> DatabaseQuery {
    precondition(query.limit == nil, "a query can be limited only once")
    precondition(count > 0 && count <= UInt(Int32.max), "a limit must be at least 1")
    return narrowed { $0.limit = Query.Limit(Int(count), side) }
  }

  private func bound(_ value: Any?, _ key: String?) -> QueryBound {
    let node = try? NodeConversion.node(value)
    precondition(node != nil && node?.children == nil, "a bound must be null or a leaf value")
    return QueryBound(node?.leafValue, key: key.map { .key(ChildKey($0)) })
  }

  private func narrowed(_ change: (inout Query) -> Void) -> DatabaseQuery {
    var narrowed = query
    change(&narrowed)
    return DatabaseQuery(repo: repo, path: path, query: narrowed)
  }
}
