package import RealtimeCore

/// A stored database as tools see it, with or without a running server: the port for maintenance.
///
/// Reading takes no lock: it sees one moment, even while a server commits. Reading never changes
/// anything, and fails when acknowledged data is missing. Only ``importTree(_:mode:patience:)``,
/// ``restore(_:)`` and ``acceptLoss()`` change the database, and all three need exclusive access.
/// Every call throws a ``StoreError`` when there is no database, or it is damaged or cannot be used.
package protocol StoredDatabase: Sendable {
  /// Whether the database, or a trace of one, exists.
  ///
  /// It throws an error when that cannot be determined, which is not the same as false.
  var exists: Bool { get throws }

  /// Reads everything.
  func load() throws -> StoredTree

  /// Reads everything, if possible without what is known from an earlier commit of its
  /// ``StoredTree/lineage``.
  ///
  /// - Returns: The same as ``load()``.
  func load(since known: StoredTree) throws -> StoredTree

  /// Reads the commits after a known one, in ascending order.
  ///
  /// The history of a database is short. A reader that needs every commit polls, and has the server
  /// keep what it has not read yet.
  ///
  /// - Returns: The commits, or nil when the history does not reach back that far.
  func commits(after revision: Int64) throws -> [Commit]?

  /// Writes the tree as JSON with priorities, in pieces of whole characters.
  func export(_ layout: ExportLayout, to sink: @escaping (String) throws -> Void) throws

  /// Verifies every byte, as far as the storage can; throws only if nothing can be read at all.
  func check() throws -> StoreCheck

  /// Copies everything that is committed at one moment into an empty file, and checks the copy.
  ///
  /// When this returns, the copy is durable.
  func backUp(to path: String) throws -> StoreCheck

  /// Imports JSON as one commit, however long the text is, and creates the database if it is
  /// missing.
  ///
  /// Afterwards, the position of the text shows how far it has been read. `patience` is for a
  /// server that is giving up the database.
  ///
  /// - Throws: A `JSONError`, an ``ImportError``, a ``StoreError``, or what the source of the text
  ///   throws; then the database is unchanged.
  func importTree(
    _ json: inout JSONTokenizer,
    mode: ImportMode,
    patience: Duration
  ) throws
    -> ImportResult

  /// Creates the database from everything another one holds: tree, ledger, scheduled writes and
  /// rules.
  ///
  /// - Throws: A ``StoreError`` when the database exists and is not empty, or cannot be created;
  ///   then nothing is changed.
  func restore(_ tree: StoredTree) throws

  /// Continues with what is left of a database in which acknowledged data is missing.
  ///
  /// - Returns: What was missing; nil when nothing was missing and nothing has been done.
  /// - Throws: A ``StoreError`` when a server holds the database, or it cannot be used.
  func acceptLoss() throws -> AcceptedLoss?
}

extension StoredDatabase {
  /// Reads the known data again.
  package func load(since known: StoredTree) throws -> StoredTree { try load() }

  /// Refuses: most storages are only read and written by servers.
  package func restore(_ tree: StoredTree) throws {
    throw StoreError(.failed, description: "this storage cannot import whole databases")
  }
}

/// How exported JSON is broken into lines.
package enum ExportLayout: Sendable {
  /// Everything on one line.
  case oneLine
  /// One member on each line, indented by two spaces for each level.
  case lines
}

package struct StoreCheck: Sendable, Equatable {
  package var revision: Int64 = 0
  /// The number of rows that hold the tree.
  package var rowCount = 0
  /// The number of batches of commits that are in the log but not in those rows yet.
  package var batchCount = 0
  /// The damage found, as sentences that name the location; at most ``faultLimit``.
  package private(set) var faults: [String]

  /// The maximum number of faults that are listed.
  static let faultLimit = 100

  package init(faults: [String] = []) {
    self.faults = faults
  }

  /// Appends a fault, unless the list is full.
  package mutating func add(_ fault: String) {
    if faults.count < Self.faultLimit { faults.append(fault) }
  }
}

package enum ImportMode: Sendable {
  /// Nothing: the tree becomes what the JSON says.
  case replacing
  /// Everything except the children, named by the JSON, of the paths that the closure accepts.
  case merging(below: @Sendable (Path) -> Bool)

  /// Whether the children of a path are replaced one by one.
  package func merges(_ path: Path) -> Bool {
    switch self {
    case .replacing: false
    case .merging(let below): below(path)
    }
  }
}

package struct ImportResult: Sendable, Equatable {
  package let revision: Int64
  /// How many subtrees were replaced.
  package let replacedCount: Int

  package init(revision: Int64, replacedCount: Int) {
    self.revision = revision
    self.replacedCount = replacedCount
  }
}

package struct ImportError: Error, Sendable, CustomStringConvertible {
  package let reason: String
  package let path: Path

  init(_ reason: String, at path: Path) {
    self.reason = reason
    self.path = path
  }

  package var description: String { "\(reason) (at \(path))" }
}

/// The data that was missing from a database that continues without it.
package struct AcceptedLoss: Sendable, Equatable {
  /// What was missing, as a sentence.
  package let fault: String
  /// The directory with copies of the files as they were.
  package let copies: String
}

/// Tells a tool how far a storage has got with work that reads a whole database.
package enum StorageProgress {
  /// Called now and then with the number of rows read, and the total if it is known.
  package typealias Report = @Sendable (_ done: Int, _ total: Int?) -> Void

  /// Wraps a function: a bare function as the value of a task-local variable crashes optimized
  /// programs of Swift 6.3.
  private final class Observer: Sendable {
    let report: Report

    init(_ report: @escaping Report) { self.report = report }
  }

  @TaskLocal private static var observer: Observer?

  /// The function that a storage calls, on the thread that requested the work; nil if there is
  /// none.
  package static var report: Report? { observer?.report }

  /// Runs work, and reports the progress that storages make with it on this thread.
  package static func reporting<Value>(
    to report: @escaping Report,
    _ work: () throws -> Value
  ) rethrows -> Value {
    try $observer.withValue(Observer(report)) { try work() }
  }
}
