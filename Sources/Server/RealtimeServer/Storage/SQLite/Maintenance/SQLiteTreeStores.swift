import DurableFiles
import Foundation

/// The stores of several databases in one directory.
///
///     DIRECTORY/database.sqlite                  the database "hearth"
///     DIRECTORY/databases/NAME/database.sqlite   any other
///
/// Each has its own lock and its own files, so that a damaged or busy one does not affect the others.
package struct SQLiteTreeStores: StoredDatabases {
  private let path: String
  private let now: @Sendable () -> Int64
  private let options: StoreOptions

  /// Describes the stores of a directory, which need not exist yet.
  ///
  /// - Parameters:
  ///   - path: The path of the directory.
  ///   - options: When a store folds its log, and how large it may grow.
  ///   - now: Returns the time in milliseconds since 1970; by default that of the system.
  package init(
    directory path: String,
    options: StoreOptions = StoreOptions(),
    now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
  ) {
    self.path = path
    self.options = options
    self.now = now
  }

  private var databases: String { path + "/databases" }

  /// The directory of a database, whether or not it exists.
  ///
  /// - Parameter name: A valid name.
  /// - Returns: The path.
  package func directory(of name: String) -> String {
    name == DatabaseName.standard ? path : "\(databases)/\(name)"
  }

  /// The process that uses a directory; nil if none does.
  package static func holder(of directory: String) -> Int32? {
    DirectoryLock.holder(of: directory)
  }

  package func database(_ name: String) -> any StoredDatabase {
    SQLiteDatabase(at: directory(of: name), options: options, now: now)
  }

  private func exists(_ name: String) -> Bool {
    StoreDirectory(path: directory(of: name)).hasDatabase
  }

  /// The names of the existing databases, in order.
  ///
  /// - Throws: ``StoreError`` when the directory cannot be read.
  /// - Complexity: O(databases)
  package func names() throws(StoreError) -> [String] {
    var names: [String] = []
    if let stream = opendir(databases) {
      defer { closedir(stream) }
      while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        // A database that is being created has a name that begins with a dot.
        if !name.hasPrefix("."), name != DatabaseName.standard, exists(name) { names.append(name) }
      }
    } else if errno != ENOENT {
      throw StoreError(systemCode: errno, "cannot read \(databases)")
    }
    if exists(DatabaseName.standard) { names.append(DatabaseName.standard) }
    return names.sorted()
  }

  /// Opens the store of a database.
  ///
  /// - Parameter name: 1 to 63 lowercase letters, digits and hyphens.
  /// - Returns: The store, or nil when there is no such database.
  /// - Throws: ``StoreError`` when it cannot be used.
  package func open(_ name: String) throws(StoreError) -> (any TreeStore)? {
    guard exists(name) else { return nil }
    return try SQLiteTreeStore(directory: directory(of: name), now: now(), options: options)
  }

  /// Creates an empty database, unless one with this name exists.
  ///
  /// It appears as a whole or not at all, even if the process ends halfway.
  ///
  /// - Parameter name: 1 to 63 lowercase letters, digits and hyphens.
  /// - Returns: Whether it was created.
  /// - Throws: ``StoreError`` when it cannot be created.
  package func create(_ name: String) throws(StoreError) -> Bool {
    guard !exists(name) else { return false }
    guard name != DatabaseName.standard else {
      try SQLiteTreeStore(directory: path, now: now(), options: options).close()
      return true
    }
    let draft = "\(databases)/.\(name)-\(UUID().uuidString)"
    try SQLiteTreeStore(directory: draft, now: now(), options: options).close()
    guard rename(draft, directory(of: name)) == 0 else {
      let code = errno
      try? FileManager.default.removeItem(atPath: draft)
      // Another process has created it in the meantime.
      if code == ENOTEMPTY || code == EEXIST { return false }
      throw StoreError(systemCode: code, "cannot create \(directory(of: name))")
    }
    try StoreError.translating(at: databases) { try DirectoryNames.synchronize(databases) }
    return true
  }
}
