private import Dispatch
private import DurableFiles
private import Foundation
private import NIOConcurrencyHelpers
private import RealtimeCore
import RealtimeServer

/// Reads every commit from the stored database while the server writes to it.
///
/// The server keeps a short history of commits. If it knows the observer's mark, it keeps
/// everything that the observer has not read yet. Without a mark the observer may miss commits; it
/// then reads the whole database and records a gap. The database can be read at any time, even
/// after the server was killed.
///
/// State: made → started (reads periodically) → stopped. The observations are guarded by `state`,
/// and reads follow one another on `queue`.
final class LogObserver: Sendable {
  private struct State {
    var revision: Int64
    /// The position of the mark.
    var marked: Int64
    var commits: CommitHistory
    var failure: (any Error)?
  }

  /// How many commits are read before the mark is moved, which involves writing a file.
  private static let markedCommits: Int64 = 500

  private let database: any StoredDatabase
  private let mark: LogMark?
  private let patience: Duration
  private let queue = DispatchQueue(label: "HearthLab.LogObserver")
  private let state: NIOLockedValueBox<State>
  // Safety: used only on `queue`, and in `deinit`.
  private nonisolated(unsafe) var timer: (any DispatchSourceTimer)?

  /// Starts with the current data.
  ///
  /// - Parameters:
  ///   - database: The database that the server commits to.
  ///   - markFile: The file that tells the server how far the observer has read, or nil.
  ///   - patience: How long the database may be unreachable, as a remote store may be. Anything
  ///     committed in between is read afterwards.
  /// - Throws: `StoreError` when the store does not exist or is damaged.
  init(
    _ database: any StoredDatabase,
    markFile: String? = nil,
    patience: Duration = .zero
  ) throws {
    self.database = database
    self.patience = patience
    mark = markFile.map { LogMark(path: $0) }
    let stored = try database.load()
    state = NIOLockedValueBox(
      State(
        revision: stored.revision,
        marked: 0,
        commits: CommitHistory(
          root: stored.root,
          revision: stored.revision,
          finalRoot: stored.root,
          rules: stored.rules.map { [$0] } ?? []
        )
      )
    )
  }

  deinit {
    timer?.cancel()
  }

  /// Starts to read periodically.
  func start(every interval: Duration = .milliseconds(25)) {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(
      deadline: .now(),
      repeating: .microseconds(Int(interval.microseconds)),
      leeway: .milliseconds(5)
    )
    timer.setEventHandler { [weak self] in self?.read() }
    queue.sync { self.timer = timer }
    timer.resume()
  }

  /// What has been observed so far, without a final read of the whole database.
  var observed: CommitHistory { state.withLockedValue { $0.commits } }

  /// Reads and records what has been committed so far.
  func look() {
    queue.sync { _ = read() }
  }

  /// Records what the server had committed when it ended.
  ///
  /// Must be called after the process has ended and before another is started.
  ///
  /// - Parameter moment: A moment before the end; anything acknowledged by then must be stored.
  func serverCrashed(after moment: Moment) {
    queue.sync {
      readPatiently()
      let now = Moment.now
      state.withLockedValue {
        $0.commits.entries.append(.crash(after: moment, before: now))
      }
    }
  }

  /// Stops reading; what was not recorded is lost.
  func stop() {
    queue.sync {
      timer?.cancel()
      timer = nil
    }
  }

  /// Stops reading, and returns what was recorded, with a final read of the whole database.
  func finish() throws -> CommitHistory {
    stop()
    queue.sync { readPatiently() }
    // Read first, so that every commit it contains is recorded individually.
    let stored = try database.load()
    queue.sync { readPatiently() }
    let (commits, failure) = state.withLockedValue { state in
      state.commits.finalRoot = stored.root
      state.commits.finalRevision = stored.revision
      if let rules = stored.rules, !state.commits.rules.contains(rules) {
        state.commits.rules.append(rules)
      }
      return (state.commits, state.failure)
    }
    if let failure { throw failure }
    return commits
  }

  /// Reads, and retries while the database is unreachable and patience lasts.
  private func readPatiently() {
    let deadline = Moment.now.advanced(by: patience)
    while !read(isLast: Moment.now >= deadline) { usleep(50_000) }
  }

  /// Records what was committed; returns whether the read succeeded or failed for good.
  @discardableResult
  private func read(isLast: Bool = false) -> Bool {
    let revision = state.withLockedValue { $0.revision }
    do {
      if let commits = try database.commits(after: revision) {
        let now = Moment.now
        state.withLockedValue { state in
          for commit in commits { state.commits.entries.append(.commit(commit, seen: now)) }
          state.revision = commits.last?.revision ?? state.revision
        }
        moveMark()
      } else {
        let stored = try database.load()
        let now = Moment.now
        state.withLockedValue { state in
          state.commits.entries.append(
            .jump(stored.root, revision: stored.revision, seen: now)
          )
          state.revision = stored.revision
        }
      }
    } catch {
      if patience > .zero, !isLast { return false }
      state.withLockedValue { $0.failure = $0.failure ?? error }
    }
    return true
  }

  private func moveMark() {
    guard let mark else { return }
    let revision = state.withLockedValue { state -> Int64? in
      guard state.revision >= state.marked + Self.markedCommits else { return nil }
      state.marked = state.revision
      return state.revision
    }
    // If the mark cannot be moved, the log grows, but nothing is lost.
    if let revision { try? mark.move(to: revision) }
  }
}
