/// Being told of what happens.
extension DatabaseQuery {
  /// Calls a block now and whenever something of this kind happens, until the observer is removed.
  ///
  /// - Parameters:
  ///   - eventType: What to be told of.
  ///   - block: Gets the data; runs on the database's ``Database/callbackQueue``, in order.
  /// - Returns: A handle to remove the observer by.
  @discardableResult
  public func observe(
    _ eventType: DataEventType,
    with block: @escaping (DataSnapshot) -> Void
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
    with block: @escaping (DataSnapshot) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)?
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
    andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) -> DatabaseHandle {
    observe([eventType], with: { block($1, $2) }, withCancel: cancelBlock)
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
    with block: @escaping (DataEventType, DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) -> DatabaseHandle {
    repo.observe(self, eventTypes, Callback(block), cancel: Callback(cancelBlock))
  }

  /// Calls a block once, with the first thing of this kind that happens.
  ///
  /// - Parameters:
  ///   - eventType: What to be told of.
  ///   - block: Gets the data; runs on the database's ``Database/callbackQueue``.
  ///   - cancelBlock: Gets the reason why nothing will come.
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

  /// Calls a block once, with the first thing of this kind that happens and the key before it.
  ///
  /// - Parameters:
  ///   - eventType: What to be told of.
  ///   - block: Gets the data and the key before it in the query's order, nil for the first.
  ///   - cancelBlock: Gets the reason why nothing will come.
  public func observeSingleEvent(
    of eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) {
    _ = repo.observe(
      self,
      [eventType],
      once: true,
      Callback { block($1, $2) },
      cancel: Callback(cancelBlock)
    )
  }

  /// Removes an observer of this query; its block is not started again after this returns.
  ///
  /// When this query is the whole location, the observer may be one of any query of the location; one
  /// of another location stays. A block that is running on another thread at this moment still ends.
  public func removeObserver(withHandle handle: DatabaseHandle) {
    repo.removeObserver(handle, of: self)
  }

  /// Removes all observers of this query; those of every query here when this one is the whole location.
  public func removeAllObservers() {
    repo.removeAllObservers(of: self)
  }

  /// Keeps the data up to date without an observer, or no longer, so that reading them is quick.
  public func keepSynced(_ keepSynced: Bool) {
    repo.keepSynced(self, keepSynced)
  }
}
