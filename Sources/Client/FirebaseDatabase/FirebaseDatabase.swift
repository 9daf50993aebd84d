// Lets a source file that says `import FirebaseDatabase` compile unchanged. The original re-exports
// Foundation, and programs written for it rely on that.
@_exported public import FirebaseCore
@_exported public import Foundation
@_exported public import RealtimeDatabase

/// Looking databases up by app.
extension Database {
  /// The database of an app's project; every call returns the same one.
  ///
  /// Without a project, it is the database that `useEmulator(withHost:port:)` chooses. A database
  /// that was looked up by app stays open until the app is deleted.
  public static func database(app: FirebaseApp) -> Database { database(ofApp: app.name) }

  /// The app's database at a URL; all URLs of one database give the same instance.
  ///
  /// Passing anything other than the URL of a database is a programmer error and traps.
  public static func database(app: FirebaseApp, url: String) -> Database {
    database(ofApp: app.name, url: url)
  }

  /// The app that the database belongs to; nil if it was opened without one or the app was deleted.
  public var app: FirebaseApp? { appName.flatMap { FirebaseApp.app(name: $0) } }
}

/// Writing without waiting for the server, as programs for the original do.
///
/// At the top level of a script, Swift prefers these forms even after `await`, as it does with the
/// original; it then warns that no `async` operation occurs. `RealtimeDatabase` alone does not have
/// them, so that a script that imports it waits.
extension DatabaseReference {
  /// Replaces the data.
  public func setValue(_ value: Any?) {
    setValue(value, withCompletionBlock: nil)
  }

  /// Replaces the data and the priority.
  public func setValue(_ value: Any?, andPriority priority: Any?) {
    setValue(value, andPriority: priority, withCompletionBlock: nil)
  }

  /// Replaces the data with a value.
  ///
  /// - Throws: `EncodingError`; in that case nothing is written.
  public func setValue<Value: Encodable>(
    from value: Value,
    encoder: Database.Encoder = Database.Encoder()
  ) throws {
    try setValue(from: value, encoder: encoder, completion: nil)
  }

  /// Removes the data.
  public func removeValue() {
    removeValue(completionBlock: nil)
  }

  /// Replaces the priority of existing data.
  public func setPriority(_ priority: Any?) {
    setPriority(priority, withCompletionBlock: nil)
  }

  /// Replaces the data at several relative paths atomically.
  public func updateChildValues(_ values: [AnyHashable: Any]) {
    updateChildValues(values, withCompletionBlock: nil)
  }

  /// Makes the server replace the data when this connection ends.
  public func onDisconnectSetValue(_ value: Any?) {
    onDisconnectSetValue(value, withCompletionBlock: nil)
  }

  /// Makes the server replace the data and the priority when this connection ends.
  public func onDisconnectSetValue(_ value: Any?, andPriority priority: Any?) {
    onDisconnectSetValue(value, andPriority: priority, withCompletionBlock: nil)
  }

  /// Makes the server remove the data when this connection ends.
  public func onDisconnectRemoveValue() {
    onDisconnectRemoveValue(completionBlock: nil)
  }

  /// Makes the server replace the data at several paths when this connection ends.
  public func onDisconnectUpdateChildValues(_ values: [AnyHashable: Any]) {
    onDisconnectUpdateChildValues(values, withCompletionBlock: nil)
  }

  /// Cancels the operations scheduled at and below this location for the end of this connection.
  public func cancelDisconnectOperations() {
    cancelDisconnectOperations(completionBlock: nil)
  }

  /// Computes new data from the current data without overwriting concurrent changes.
  @preconcurrency
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult
  ) {
    runTransactionBlock(block, andCompletionBlock: nil)
  }
}
