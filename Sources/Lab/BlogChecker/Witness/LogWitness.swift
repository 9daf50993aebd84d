private import Dispatch
private import DurableFiles
private import NIOConcurrencyHelpers
private import RealtimeCore
package import RealtimeHub

/// Reads every commit from the file of the store, beside the server that writes it.
///
/// The log in the file has each commit with its number. The server folds it away in slices, but keeps
/// what lies beyond a mark that the witness moves, where there is one. Without a mark, what has been
/// missed is read as a whole and noted as a gap. The file may be read at any time, also when the
/// server has been killed.
///
/// State: made → started (looks by itself) → stopped. What was seen is guarded by
/// `state`, and looks follow one another on `queue`.
package final class LogWitness: Sendable {
  private struct State {
    var revision: Int64
    /// Where the mark stands.
    var marked: Int64
    var testimony: Testimony
    var failure: (any Error)?
  }

  /// How many commits are read before the mark is moved, which is a file to write.
  private static let markedCommits: Int64 = 500

  private let database: any StoredDatabase
  private let mark: LogMark?
  private let queue = DispatchQueue(label: "BlogChecker.LogWitness")
  private let state: NIOLockedValueBox<State>
  // Safety: touched only within `queue`, and when nobody else has the witness any more.
  private nonisolated(unsafe) var timer: (any DispatchSourceTimer)?

  /// Begins with what is there.
  ///
  /// - Parameters:
  ///   - database: The database that the server commits to.
  ///   - markFile: The file that tells the server how far the witness has read, if it cares.
  /// - Throws: `StoreError` when there is no store, or it is damaged.
  package init(_ database: any StoredDatabase, markFile: String? = nil) throws {
    self.database = database
    mark = markFile.map { LogMark(path: $0) }
    let stored = try database.load()
    state = NIOLockedValueBox(
      State(
        revision: stored.revision,
        marked: 0,
        testimony: Testimony(
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

  /// Looks by itself from now on.
  ///
  /// - Parameter interval: How often.
  package func start(every interval: Duration = .milliseconds(25)) {
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

  /// What has been seen up to now, without the last reading of the whole.
  package var sightings: Testimony { state.withLockedValue { $0.testimony } }

  /// Takes down what has been committed up to now.
  package func look() {
    queue.sync { read() }
  }

  /// Takes down what the server had committed when it ended.
  ///
  /// It is to be called after the end of the process and before another is started.
  ///
  /// - Parameter moment: A moment before the end: what was acknowledged by then must be there.
  package func serverCrashed(after moment: Moment) {
    queue.sync {
      read()
      let now = Moment.now
      state.withLockedValue {
        $0.testimony.entries.append(.crash(after: moment, before: now))
      }
    }
  }

  /// Ends looking, and tells everything.
  ///
  /// - Returns: What was seen, with a last reading of the whole.
  /// - Throws: `StoreError` when the file could not be read now or at any time.
  package func testimony() throws -> Testimony {
    queue.sync {
      timer?.cancel()
      timer = nil
    }
    // Read first, so that the commits in it have all been seen one by one.
    let stored = try database.load()
    look()
    let (testimony, failure) = state.withLockedValue { state in
      state.testimony.finalRoot = stored.root
      state.testimony.finalRevision = stored.revision
      if let rules = stored.rules, !state.testimony.rules.contains(rules) {
        state.testimony.rules.append(rules)
      }
      return (state.testimony, state.failure)
    }
    if let failure { throw failure }
    return testimony
  }

  private func read() {
    let revision = state.withLockedValue { $0.revision }
    do {
      if let commits = try database.commits(after: revision) {
        let now = Moment.now
        state.withLockedValue { state in
          for commit in commits { state.testimony.entries.append(.commit(commit, seen: now)) }
          state.revision = commits.last?.revision ?? state.revision
        }
        moveMark()
      } else {
        let stored = try database.load()
        let now = Moment.now
        state.withLockedValue { state in
          state.testimony.entries.append(
            .jump(stored.root, revision: stored.revision, seen: now)
          )
          state.revision = stored.revision
        }
      }
    } catch {
      state.withLockedValue { $0.failure = $0.failure ?? error }
    }
  }

  private func moveMark() {
    guard let mark else { return }
    let revision = state.withLockedValue { state -> Int64? in
      guard state.revision >= state.marked + Self.markedCommits else { return nil }
      state.marked = state.revision
      return state.revision
    }
    // Where the mark cannot be moved the log grows, and nothing is lost.
    if let revision { try? mark.move(to: revision) }
  }
}
