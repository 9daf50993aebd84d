import DurableFiles
import Foundation
import GRDB
import RealtimeHub

/// What a store has acknowledged, kept beside its file while the store is open.
///
/// It proves that something is missing where SQLite sees only the end of its write-ahead log. Where it
/// cannot be moved it stays behind, which proves less; commits go on. One thread at a time uses it.
final class StoreMark {
  private let path: String
  private let mark: HighWaterMark?
  private var position: HighWaterMark.Position
  private let report: @Sendable (StoreEvent) -> Void
  private var hasReported = false

  /// The path of the mark of a store.
  static func path(beside database: String) -> String { database + "-mark" }

  /// Whether something was acknowledged for certain, by what the mark of a store says.
  static func isOccupied(beside database: String) -> Bool {
    guard let reading = try? HighWaterMark.read(path(beside: database)) else { return false }
    return reading != .nothing && reading != .position(HighWaterMark.Position())
  }

  /// Opens the mark of a store, and moves it to where the store is.
  init(
    beside database: String,
    at position: HighWaterMark.Position,
    _ report: @escaping @Sendable (StoreEvent) -> Void
  ) {
    let path = Self.path(beside: database)
    self.path = path
    self.position = position
    self.report = report
    let opened = Result { () throws(FileFailure) in try HighWaterMark(path: path) }
    mark = try? opened.get()
    do throws(FileFailure) {
      _ = try opened.get()
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

  /// Notes a batch that the disk has.
  ///
  /// - Parameters:
  ///   - commit: Its last commit; nil when it has none.
  ///   - payload: The bytes of its row.
  func note(_ commit: Int64?, payload: [UInt8]) {
    if let commit {
      position.commit = commit
      position.seal = LogTable.seal(of: payload)
    } else {
      position.others += 1
    }
    move()
  }

  /// Notes a commit that has no row.
  func note(_ commit: Int64) {
    position.commit = commit
    position.seal = 0
    move()
  }

  private func move() {
    do throws(FileFailure) {
      try mark?.move(to: position)
      hasReported = false
    } catch {
      tell(error)
    }
  }

  /// Waits until the disk has the mark, so that it outlives a loss of power as well; on any thread.
  func synchronize() { try? mark?.synchronize() }

  private func tell(_ failure: FileFailure) {
    if !hasReported { report(.markFailed(StoreError(failure, at: path))) }
    hasReported = true
  }
}
