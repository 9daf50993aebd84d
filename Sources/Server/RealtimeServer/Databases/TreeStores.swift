package import RealtimeHub

/// Where the databases of a server rest: the port that a storage of several implements.
///
/// The server calls it from threads of its own; for one name one call at a time, for different
/// names possibly at once.
package protocol TreeStores: Sendable {
  /// The names of the databases that exist, in order.
  ///
  /// - Throws: A ``StoreError`` when they cannot be found out.
  func names() throws -> [String]

  /// Opens the store of a database.
  ///
  /// - Parameter name: A name that is valid.
  /// - Returns: The store, or nil when there is no such database.
  /// - Throws: A ``StoreError`` when it cannot be used.
  func open(_ name: String) throws -> (any TreeStore)?

  /// Makes an empty database, unless there is one of this name.
  ///
  /// - Parameter name: A name that is valid.
  /// - Returns: Whether it was made.
  /// - Throws: A ``StoreError`` when it cannot be made.
  func create(_ name: String) throws -> Bool
}

/// The databases of a storage with what tools do with them: the port that commands use.
package protocol StoredDatabases: TreeStores {
  /// A database by its name.
  ///
  /// - Parameter name: A name that is valid.
  /// - Returns: The database, which need not exist yet.
  func database(_ name: String) -> any StoredDatabase
}
