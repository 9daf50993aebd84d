import DurableFiles
import Foundation
import GRDB
import RealtimeHub

/// What is known, without the file of a store itself, to have been acknowledged.
///
/// A server that is running may be adding to all of it: whoever takes this first and looks into the
/// file afterwards finds at least as much there, unless something is missing.
struct AcknowledgedCommits {
  private let file: String
  private let mark: HighWaterMark.Reading
  /// The last commit that is known from the write-ahead log.
  private let provenCommit: Int64
  /// Whether there is a write-ahead log without its database.
  private let isOrphan: Bool
  /// Whether there is a file that is not empty.
  let hasFile: Bool

  /// Finds out what a store must have.
  ///
  /// - Parameter file: The path of the file of the store, which may be missing.
  /// - Throws: ``StoreError`` when its companions cannot be read.
  init(ofStoreAt file: String) throws(StoreError) {
    self.file = file
    let markPath = StoreMark.path(beside: file)
    mark = try StoreError.translating(at: markPath) { try HighWaterMark.read(markPath) }
    let log = try WriteAheadLog(of: file)
    provenCommit = log?.provenCommit() ?? 0
    var status = stat()
    hasFile = stat(file, &status) == 0 && status.st_size > 0
    isOrphan = log != nil && !hasFile
  }

  /// Whether there is nothing that could be missing.
  private var isNothing: Bool {
    if isOrphan || mark == .damaged { return false }
    return lastCommit == 0 && position.others == 0
  }

  private var position: HighWaterMark.Position {
    if case .position(let position) = mark { position } else { HighWaterMark.Position() }
  }

  private var lastCommit: Int64 { max(position.commit, provenCommit) }

  // MARK: Checking

  /// Looks whether a store has everything, changing nothing.
  ///
  /// - Throws: ``StoreError`` that says what is missing, and what to do.
  func check() throws {
    if let fault = try fault() { throw StoreError.loss(file, fault) }
  }

  /// What is missing in the file; nil when nothing is.
  func fault() throws -> String? {
    if isNothing { return nil }
    guard hasFile else { return absence }
    let reader = try StoreSchema.openReader(path: file)
    defer { try? reader.close() }
    return try reader.read { database in
      switch try StoreSchema.identify(database, path: file) {
      case .nothing: absence
      case .store: try fault(in: database)
      }
    }
  }

  /// What is missing although there is nothing at all.
  var absence: String? {
    if isNothing { return nil }
    return lastCommit > 0
      ? "it is missing or empty, though everything up to commit \(lastCommit) was acknowledged"
      : "it is missing or empty, though something was acknowledged"
  }

  /// What is missing in a store; nil when nothing is.
  func fault(in database: Database) throws -> String? {
    if mark == .damaged {
      return
        "its mark \(StoreMark.path(beside: file)) is damaged, so commits may be missing unnoticed"
    }
    let log = LogTable(database, path: file)
    let revision = try log.lastRevision()
    let reason =
      "though acknowledged: its write-ahead log is damaged or gone, or the file is from another time"
    if revision < lastCommit {
      return revision + 1 == lastCommit
        ? "commit \(lastCommit) is missing, \(reason)"
        : "commits \(revision + 1) to \(lastCommit) are missing, \(reason)"
    }
    let others = try log.batchesWithoutCommits()
    if others < position.others {
      return
        "\(position.others - others) changes of the rules, the scheduled writes or what is known of"
        + " clients are missing, \(reason)"
    }
    if position.seal != 0, let seal = try log.seal(of: position.commit), seal != position.seal {
      return "commit \(position.commit) is another one than was acknowledged"
    }
    return nil
  }
}

extension StoreError {
  /// Makes the error of a store that lacks something.
  static func loss(_ path: String, _ fault: String) -> StoreError {
    StoreError(
      .damaged,
      "\(path): \(fault). Its files were left as they are; restore a backup, or go on with what is"
        + " left: \"hearth fsck --accept-loss\", which keeps copies of them"
    )
  }
}
