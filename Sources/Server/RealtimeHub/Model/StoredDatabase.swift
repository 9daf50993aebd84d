package import RealtimeCore

/// A stored database as tools see it, beside the server or without one: the port for maintenance.
///
/// Reading takes no lock: it shows one moment, also while a server commits. Reading never changes
/// anything, and fails where something is missing that was acknowledged. Only ``importTree(_:mode:patience:)``
/// and ``acceptLoss()`` change the database, and both need it for themselves.
package protocol StoredDatabase: Sendable {
  /// Whether there is such a database, or a sign that there was one.
  ///
  /// It throws a ``StoreError`` where that cannot be found out, which is not the same as no.
  var exists: Bool { get throws }

  /// Reads everything.
  ///
  /// - Throws: A ``StoreError`` when there is no database, or it is damaged.
  func load() throws -> StoredTree

  /// Reads the commits after one that is known.
  ///
  /// The history of a database is short. A reader that needs every commit asks again and again, and
  /// has the server keep what it has not read yet.
  ///
  /// - Parameter revision: The last commit that is known.
  /// - Returns: The commits in ascending order, or nil when the history does not reach back so far.
  /// - Throws: A ``StoreError`` when there is no database, or it is damaged.
  func commits(after revision: Int64) throws -> [Commit]?

  /// Writes the tree as JSON with priorities, piece by piece.
  ///
  /// - Parameters:
  ///   - layout: How the text is broken into lines.
  ///   - sink: Takes the pieces of the text, each of whole characters.
  /// - Throws: A ``StoreError`` when there is no database or it is damaged, and what the sink throws.
  func export(_ layout: ExportLayout, to sink: @escaping (String) throws -> Void) throws

  /// Verifies every byte, as far as the storage can.
  ///
  /// - Throws: A ``StoreError`` when there is no database, or it cannot be read at all.
  func check() throws -> StoreCheck

  /// Copies everything that is committed at one moment, and checks the copy.
  ///
  /// - Parameter path: An empty file; when this returns, the copy in it is durable.
  /// - Returns: What is in the copy.
  /// - Throws: A ``StoreError`` when there is no database, or either side cannot be used.
  func backUp(to path: String) throws -> StoreCheck

  /// Imports JSON as one commit, however long the text is, and makes the database when it is missing.
  ///
  /// - Parameters:
  ///   - json: The text from its start; afterwards it tells how far it has been read.
  ///   - mode: What stays of the present data.
  ///   - patience: How long to wait for a server that is giving the database up.
  /// - Returns: The commit, and how much it has replaced.
  /// - Throws: A `JSONError`, an ``ImportError``, a ``StoreError``, or what the source of the text
  ///   throws; then the database is unchanged.
  func importTree(
    _ json: inout JSONTokenizer,
    mode: ImportMode,
    patience: Duration
  ) throws
    -> ImportResult

  /// Makes the database of everything that another one holds: tree, ledger, scheduled writes, rules.
  ///
  /// - Parameter tree: What the other one holds.
  /// - Throws: A ``StoreError`` when there is such a database that is not empty, or it cannot be made;
  ///   then nothing is changed.
  func restore(_ tree: StoredTree) throws

  /// Goes on with what is left of a database that lacks something which was acknowledged.
  ///
  /// - Returns: What was missing; nil when nothing was, and nothing has been done.
  /// - Throws: A ``StoreError`` when a server has the database, or it cannot be used.
  func acceptLoss() throws -> AcceptedLoss?
}

extension StoredDatabase {
  /// Refuses: most storages are only read and written by servers.
  package func restore(_ tree: StoredTree) throws {
    throw StoreError(.failed, description: "this storage takes no whole databases")
  }
}

/// How exported JSON is broken into lines.
package enum ExportLayout: Sendable {
  /// Everything on one line.
  case oneLine
  /// A member a line, indented by two spaces a level.
  case lines
}

/// What the check of a whole database has found.
package struct StoreCheck: Sendable, Equatable {
  /// The number of the last commit.
  package var revision: Int64
  /// How many rows the tree takes.
  package var rowCount: Int
  /// How many batches of commits are in the log but not in those rows yet.
  package var batchCount: Int
  /// What is damaged, as sentences that name the location; at most ``faultLimit``.
  package private(set) var faults: [String]

  /// The most faults that are listed.
  package static let faultLimit = 100

  /// Makes a result; without arguments that of an empty database without faults.
  package init(
    revision: Int64 = 0,
    rowCount: Int = 0,
    batchCount: Int = 0,
    faults: [String] = []
  ) {
    self.revision = revision
    self.rowCount = rowCount
    self.batchCount = batchCount
    self.faults = faults
  }

  /// Appends a fault, unless there are too many already.
  package mutating func add(_ fault: String) {
    if faults.count < Self.faultLimit { faults.append(fault) }
  }
}

/// What an import leaves as it is.
package enum ImportMode: Sendable {
  /// Nothing: the tree becomes what the JSON says.
  case replacing
  /// Everything but the children, named by the JSON, of the paths that the closure accepts.
  case merging(below: @Sendable (Path) -> Bool)

  /// Whether the children of a path are replaced one by one.
  package func merges(_ path: Path) -> Bool {
    switch self {
    case .replacing: false
    case .merging(let below): below(path)
    }
  }
}

/// What an import has done.
package struct ImportResult: Sendable, Equatable {
  /// The number of its commit.
  package let revision: Int64
  /// How many subtrees were replaced.
  package let replacedCount: Int

  /// Makes a result.
  package init(revision: Int64, replacedCount: Int) {
    self.revision = revision
    self.replacedCount = replacedCount
  }
}

/// A reason why JSON cannot be imported, although it is JSON.
package struct ImportError: Error, Sendable, CustomStringConvertible {
  /// What is wrong.
  package let reason: String
  /// Where in the data it is.
  package let path: Path

  /// Makes an error.
  package init(_ reason: String, at path: Path) {
    self.reason = reason
    self.path = path
  }

  package var description: String { "\(reason) (at \(path))" }
}

/// What was missing in a database that goes on without it.
package struct AcceptedLoss: Sendable, Equatable {
  /// What was missing, as a sentence.
  package let fault: String
  /// The directory with copies of the files as they were.
  package let copies: String

  /// Makes a description of a loss.
  package init(fault: String, copies: String) {
    self.fault = fault
    self.copies = copies
  }
}

/// Tells a tool how far a storage is with work that reads a whole database.
package enum StorageProgress {
  /// Called now and then with how many rows have been read, and how many there are if that is known.
  package typealias Report = @Sendable (_ done: Int, _ total: Int?) -> Void

  /// Holds a function: as the value of a task-local variable, a function alone makes optimized
  /// programs of Swift 6.3 crash.
  private final class Observer: Sendable {
    let report: Report

    init(_ report: @escaping Report) { self.report = report }
  }

  @TaskLocal private static var observer: Observer?

  /// What a storage calls on the thread of the one who asked for the work; nil if nobody asks.
  package static var report: Report? { observer?.report }

  /// Does work whose progress is told.
  ///
  /// - Parameters:
  ///   - report: Is told of the progress of storages, on this thread.
  ///   - work: The work.
  /// - Returns: What the work returns.
  /// - Throws: What the work throws.
  package static func reporting<Value>(
    to report: @escaping Report,
    _ work: () throws -> Value
  ) rethrows -> Value {
    try $observer.withValue(Observer(report)) { try work() }
  }
}
