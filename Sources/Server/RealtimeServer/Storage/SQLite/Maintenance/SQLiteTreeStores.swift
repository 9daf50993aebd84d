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
  /// The time in milliseconds since 1970.
  private let now: @Sendable () -> Int64
  /// When a store folds its log, and how large it may grow.
  private let options: StoreOptions

  /// Describes the stores of a directory, which need not exist yet.
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
  package func directory(of name: String) -> String {
    name == DatabaseName.standard ? path : "\(databases)/\(name)"
  }

  package static func holder(of directory: String) -> Int32? {
    DirectoryLock.holder(of: directory)
  }

  package func database(_ name: String) -> any StoredDatabase {
    SQLiteDatabase(at: directory(of: name), options: options, now: now)
  }

  private func exists(_ name: String) throws(StoreError) -> Bool {
    try StoreDirectory(path: directory(of: name)).hasDatabase
  }

  /// Whether there is a database, or something that cannot be read, which must not hide the others.
  private func mayExist(_ name: String) -> Bool { (try? exists(name)) ?? true }

  package func names() throws(StoreError) -> [String] {
    // A database that is being created or deleted has a name that begins with a dot.
    var names = try entries().filter {
      !$0.hasPrefix(".") && $0 != DatabaseName.standard && mayExist($0)
    }
    if mayExist(DatabaseName.standard) { names.append(DatabaseName.standard) }
    return names.sorted()
  }

  /// The names of all that is in the directory of the databases.
  private func entries() throws(StoreError) -> [String] {
    guard let stream = opendir(databases) else {
      guard errno == ENOENT else { throw StoreError(systemCode: errno, "cannot read \(databases)") }
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
      )
    }
    return names
  }

  package func open(_ name: String) throws(StoreError) -> (any TreeStore)? {
    guard try exists(name) else { return nil }
    let store = try store(in: directory(of: name))
    if name == DatabaseName.standard { finishDeletions() }
    return store
  }

  private func store(in directory: String) throws(StoreError) -> SQLiteTreeStore {
    try SQLiteTreeStore(directory: directory, now: now(), options: options)
  }

  /// Creates an empty database, unless one with this name exists.
  ///
  /// It appears as a whole or not at all, even if the process ends halfway.
  package func create(_ name: String) throws(StoreError) -> Bool {
    guard try !exists(name) else { return false }
    guard name != DatabaseName.standard else {
      try store(in: path).close()
      return true
    }
    let draft = "\(databases)/.\(name)-\(UUID().uuidString)"
    // Nothing, once the draft has its name.
    defer { try? FileManager.default.removeItem(atPath: draft) }
    try store(in: draft).close()
    guard Foundation.rename(draft, directory(of: name)) == 0 else {
      let code = errno
      // Another process has created it in the meantime, or its name is that of something else.
      if try exists(name) { return false }
      throw StoreError(systemCode: code, "cannot create \(directory(of: name))")
    }
    try synchronize()
    return true
  }

  // MARK: Removing and renaming

  /// Deletes a database and its accounts, if there are any, while no server uses the directory.
  ///
  /// The standard database cannot be deleted: it is the directory itself. If the process ends
  /// halfway, the database is still there, or its files are deleted by the next server or the next
  /// deletion.
  ///
  /// - Throws: ``StoreError`` when a server uses the directory, or there is no such database.
  package func remove(_ name: String, withAccountsIn accounts: String) throws(StoreError) {
    try change(name, .clear(database: name), in: accounts) { () throws(StoreError) in
      finishDeletions()
      let doomed = "\(databases)/\(Self.deleted)\(name)-\(UUID().uuidString)"
      try move(directory(of: name), to: doomed)
      try synchronize()
      try delete(doomed)
    }
  }

  /// How the name of a directory begins whose database is no more.
  private static let deleted = ".deleted-"

  /// Deletes what a deletion has left that did not end.
  ///
  /// Whoever calls this holds the standard database, as every deletion does until it ends.
  private func finishDeletions() {
    for name in (try? entries()) ?? [] where name.hasPrefix(Self.deleted) {
      // What cannot be deleted now can be later.
      try? delete("\(databases)/\(name)")
    }
  }

  private func delete(_ directory: String) throws(StoreError) {
    // The directory and its file may be links, which lead to what else belongs to others.
    try StoreError.translating(at: directory) {
      for name in CompanionFile.all(of: directory + "/database.sqlite") {
        try CompanionFile.remove(name)
      }
    }
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Renames a database, with its accounts, while no server uses the directory.
  ///
  /// - Throws: ``StoreError`` when a server uses the directory, or there is no such database.
  package func rename(
    _ name: String,
    to newName: String,
    withAccountsIn accounts: String
  ) throws(StoreError) {
    let target = directory(of: newName)
    // Its accounts must not go ahead to where the database cannot follow; an empty directory may go.
    guard rmdir(target) == 0 || errno == ENOENT else {
      throw StoreError(systemCode: errno, "cannot replace \(target)")
    }
    // If the process ends in between, the accounts wait for the database to be renamed again.
    try change(
      name,
      .rename(database: name, to: newName),
      undoneBy: .rename(database: newName, to: name),
      in: accounts
    ) { () throws(StoreError) in
      try move(directory(of: name), to: target)
    }
    // If this fails, the accounts stay with the database, which has its new name.
    try synchronize()
  }

  private func change(
    _ name: String,
    _ identities: IdentityChange,
    undoneBy undo: IdentityChange? = nil,
    in accounts: String,
    _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    guard name != DatabaseName.standard, try exists(name) else {
      throw StoreError(.failed, description: "\(databases) has no database \"\(name)\"")
    }
    // A server has the standard database open, and opens this one when it is asked for.
    let locks = [
      try DirectoryLock(directory: path), try DirectoryLock(directory: directory(of: name)),
    ]
    defer { for lock in locks { lock.release() } }
    let store =
      try SQLiteIdentityStore.exists(in: accounts) ? SQLiteIdentityStore(directory: accounts) : nil
    defer { try? store?.close() }
    // Tokens name the database, and others may have accounts in the next one of that name.
    let ends = IdentityChange.revokeAll(database: name, validSince: now() / 1_000 + 1)
    try StoreError.translating(at: accounts) { try store?.apply([ends, identities]) }
    do throws(StoreError) {
      try body()
    } catch {
      if let undo { try? store?.apply([undo]) }
      throw error
    }
  }

  private func move(_ directory: String, to target: String) throws(StoreError) {
    guard Foundation.rename(directory, target) == 0 else {
      throw StoreError(systemCode: errno, "cannot rename \(directory)")
    }
  }

  private func synchronize() throws(StoreError) {
    try StoreError.translating(at: databases) { try DirectoryNames.synchronize(databases) }
  }
}
