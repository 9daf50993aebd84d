import DurableFiles
import Foundation
import GRDB
import NIOConcurrencyHelpers

/// Records, beside the file, what a store has acknowledged.
///
/// SQLite takes a damaged frame for the end of its write-ahead log; the mark proves that commits
/// are missing there. If the mark cannot be opened or written, it falls behind and proves less, and
/// commits continue; each of them tries again. Only one thread at a time may move it.
final class StoreMark {
  private let path: String
  /// The open mark; nil while it cannot be opened.
  private let mark = NIOLockedValueBox<HighWaterMark?>(nil)
  private var position: HighWaterMark.Position
  private let report: @Sendable (StoreEvent) -> Void
  private var hasReported = false

  /// Opens the mark of a store, and moves it to the position of the store.
  init(
    beside database: String,
    at position: HighWaterMark.Position,
    _ report: @escaping @Sendable (StoreEvent) -> Void
  ) {
    let path = CompanionFile.mark(of: database)
    self.path = path
    self.position = position
    self.report = report
    do throws(FileFailure) {
      _ = try opened()
      if case .position(let old) = try HighWaterMark.read(path), old.commit == position.commit,
        old.others == position.others
      {
        self.position = old
      } else {
        move()
      }
    } catch {
      tell(error)
    }
  }

  /// Advances the mark to a durable batch that ends with a commit, if it has any.
  ///
  /// The payload is the bytes of its row; empty for a commit that has no row in the log.
  func note(_ commit: Int64?, payload: [UInt8] = []) {
    if let commit {
      position.commit = commit
      position.seal = BatchCoding.seal(of: payload)
    } else {
      position.others += 1
    }
    move()
  }

  private func move() {
    do throws(FileFailure) {
      try opened().move(to: position)
      if hasReported { report(.markedAgain) }
      hasReported = false
    } catch {
      tell(error)
    }
  }

  private func opened() throws(FileFailure) -> HighWaterMark {
    if let mark = mark.withLockedValue({ $0 }) { return mark }
    let opened = try HighWaterMark(path: path)
    mark.withLockedValue { $0 = opened }
    return opened
  }

  /// Makes the mark durable, so that it also survives a power failure; may be called on any thread.
  func synchronize() { try? mark.withLockedValue { $0 }?.synchronize() }

  private func tell(_ failure: FileFailure) {
    if !hasReported { report(.markFailed(StoreError(failure, at: path))) }
    hasReported = true
  }
}

/// What a store must contain, as proved by its mark and its write-ahead log.
///
/// A server may be committing at the same time. So this is read before the file itself, which then
/// contains at least as much, unless something is missing.
struct AcknowledgedCommits {
  private let file: String
  private let mark: HighWaterMark.Reading
  /// The last commit that the write-ahead log proves.
  private let provenCommit: Int64
  /// Whether there is a write-ahead log without a database.
  private let isOrphan: Bool
  /// Whether there is a non-empty file.
  let hasFile: Bool
  /// Why the write-ahead log must not be copied into the file; nil if it belongs to it.
  let foreignLog: String?

  /// Reads the mark and the write-ahead log of the file of a store, which may be missing.
  init(ofStoreAt file: String) throws(StoreError) {
    self.file = file
    let markPath = CompanionFile.mark(of: file)
    mark = try StoreError.translating(at: markPath) { try HighWaterMark.read(markPath) }
    let log = try WriteAheadLog(of: file)
    provenCommit = log?.provenCommit() ?? 0
    var status = stat()
    hasFile = stat(file, &status) == 0 && status.st_size > 0
    isOrphan = log != nil && !hasFile
    foreignLog =
      hasFile
      ? try StoreError.translating(at: file) { try LogIdentity.fault(ofLogBeside: file) } : nil
  }

  private var isNothing: Bool {
    if isOrphan || mark == .damaged { return false }
    return lastCommit == 0 && position.others == 0
  }

  private var position: HighWaterMark.Position {
    if case .position(let position) = mark { position } else { HighWaterMark.Position() }
  }

  private var lastCommit: Int64 { max(position.commit, provenCommit) }

  // MARK: Checking

  /// What is missing from the file, which is not changed; nil if nothing is.
  func fault() throws -> String? {
    if let foreignLog { return foreignLog }
    if isNothing { return nil }
    guard hasFile else { return absence }
    let reader = try StoreSchema.openReader(path: file)
    defer { try? reader.close() }
    return try reader.read { try StoreSchema.isStore($0) ? fault(in: $0) : absence }
  }

  /// What is missing if the file does not exist or is empty; nil if nothing is.
  var absence: String? {
    if isNothing { return nil }
    return lastCommit > 0
      ? "it is missing or empty, but commits up to \(lastCommit) were acknowledged"
      : "it is missing or empty, but writes were acknowledged"
  }

  /// What is missing from a store, or wrong with its mark; nil if nothing is.
  func fault(in database: Database) throws -> String? {
    if mark == .damaged {
      return
        "its mark \(CompanionFile.mark(of: file)) is damaged, so missing commits go unnoticed"
    }
    let log = LogTable(database)
    let revision = try log.lastRevision()
    let reason =
      "though acknowledged: its write-ahead log is damaged or missing, or the file is an old copy"
    if revision < lastCommit {
      return revision + 1 == lastCommit
        ? "commit \(lastCommit) is missing, \(reason)"
        : "commits \(revision + 1) to \(lastCommit) are missing, \(reason)"
    }
    let others = try log.batchesWithoutCommits()
    if others < position.others {
      return
        "\(position.others - others) changes to the rules, the scheduled writes or the records of"
        + " clients are missing, \(reason)"
    }
    if position.seal != 0, let seal = try log.seal(of: position.commit), seal != position.seal {
      return "commit \(position.commit) is not the one that was acknowledged"
    }
    return nil
  }
}

extension StoreError {
  /// Describes a store in which acknowledged data is missing.
  static func loss(of path: String, fault: String) -> StoreError {
    StoreError(
      .damaged,
      description:
        "\(path): \(fault). Its files are unchanged; \"hearth restore FILE\" puts a backup in their"
        + " place, and \"hearth fsck --accept-loss\" continues with what is left; both keep copies"
    )
  }
}
