/// Changing data in the light of what they are.
extension DatabaseReference {
  /// Changes the data in the light of what they are, without losing what others do meanwhile.
  ///
  /// The block runs at once on the data known here (none when none are known yet), and again whenever
  /// the server says that they had changed; so it must give the same answer each time, and do nothing
  /// else. It gives up after ``DatabaseOptions/transactionTries``.
  ///
  /// The block runs on a thread of the database, as in the original, and not on the callback queue: what
  /// it needs of an actor, the main one included, is to be read before.
  ///
  /// - Parameters:
  ///   - block: Changes the data it is given; runs on the database's own thread.
  ///   - completionBlock: Gets an error, whether the change was stored, and the data then there; runs
  ///     on ``Database/callbackQueue``.
  ///   - localEvents: Whether observers here see the change before the server has stored it.
  @preconcurrency
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult,
    andCompletionBlock completionBlock: (((any Error)?, Bool, DataSnapshot?) -> Void)? = nil,
    withLocalEvents localEvents: Bool = true
  ) {
    let callback = Callback(completionBlock)
    repo.transaction(self, localEvents: localEvents, block) { error, committed, snapshot in
      callback.call?(error, committed, snapshot)
    }
  }
}
