import Dispatch
import DurableFiles
import Foundation
import NIOPosix
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing

@testable import HearthLab
@testable import RealtimeServer

@Suite("Observers")
struct ObserverTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func batch(_ revisions: ClosedRange<Int64>) -> CommitBatch {
    CommitBatch(
      commits: revisions.map { revision in
        Commit(
          revision: revision,
          timestamp: revision,
          changes: [Change(Path(wire: "counters/\(revision % 7)"), to: .integer(revision))]
        )
      }
    )
  }

  private func revisions(_ commits: CommitHistory) -> [Int64] {
    commits.entries.compactMap { entry in
      if case .commit(let commit, _) = entry { commit.revision } else { nil }
    }
  }

  // MARK: The log

  @Test("A log observer sees every commit with its revision while the store writes")
  func log() throws {
    let store = try SQLiteTreeStore(directory: directory.path, now: 0)
    try store.commit(batch(1...3))
    let observer = try LogObserver(SQLiteDatabase(at: directory.path))
    try store.commit(batch(4...4))
    observer.look()
    try store.commit(batch(5...9))
    let moment = Moment.now
    observer.serverCrashed(after: moment)
    try store.commit(batch(10...11))
    let commits = try observer.finish()
    #expect(commits.revision == 3)
    #expect(revisions(commits) == Array(4...11))
    #expect(commits.finalRevision == 11)
    #expect(commits.gapCount == 0)
    guard case .crash(moment, _) = commits.entries[6]
    else { throw Unexpected("the crash is not where it was: \(commits.entries.count)") }
    // The commits that were seen one by one lead to the final data read as a whole.
    var root = commits.root
    for case .commit(let commit, _) in commits.entries {
      for change in commit.changes { root.update(at: change.path, to: change.node) }
    }
    #expect(root == commits.finalRoot)
    try store.close()
  }

  @Test("A log observer sees every commit or records a gap while the log is folded")
  func following() throws {
    var options = StoreOptions()
    options.foldBatches = 50
    let store = try SQLiteTreeStore(directory: directory.path, now: 0, options: options)
    let observer = try LogObserver(SQLiteDatabase(at: directory.path))
    for revision: Int64 in 1...600 {
      try store.commit(batch(revision...revision))
      if revision % 20 == 0 { observer.look() }
    }
    let commits = try observer.finish()
    var (root, last) = (commits.root, commits.revision)
    for entry in commits.entries {
      switch entry {
      case .commit(let commit, _):
        #expect(commit.revision == last + 1)
        for change in commit.changes { root.update(at: change.path, to: change.node) }
        last = commit.revision
      case .jump(let node, let revision, _):
        #expect(revision > last)
        (root, last) = (node, revision)
      case .crash: Issue.record("nothing has crashed")
      }
    }
    #expect(last == 600)
    #expect(root == commits.finalRoot)
    try store.close()
  }

  @Test("A started log observer polls the log on its own")
  func byItself() async throws {
    let store = try SQLiteTreeStore(directory: directory.path, now: 0)
    let observer = try LogObserver(SQLiteDatabase(at: directory.path))
    observer.start(every: .milliseconds(5))
    try store.commit(batch(1...3))
    try await wait { observer.observed.commitCount == 3 }
    #expect(revisions(try observer.finish()) == [1, 2, 3])
    try store.close()
  }

  @Test("A log observer records commits folded before its first look as a gap")
  func folded() throws {
    var options = StoreOptions()
    options.foldBatches = 10
    let store = try SQLiteTreeStore(directory: directory.path, now: 0, options: options)
    let observer = try LogObserver(SQLiteDatabase(at: directory.path))
    for revision: Int64 in 1...50 { try store.commit(batch(revision...revision)) }
    // Closing folds the whole log.
    try store.close()
    let commits = try observer.finish()
    #expect(commits.gapCount == 1)
    #expect(revisions(commits) == [])
    #expect(commits.finalRevision == 50)
  }

  @Test("The store folds only commits that the observer has marked as read")
  func marked() throws {
    let files = try TemporaryDirectory()
    let mark = LogMark(path: files.path + "/mark")
    var options = StoreOptions()
    options.foldBatches = 10
    options.logMark = mark
    let store = try SQLiteTreeStore(directory: directory.path, now: 0, options: options)
    let observer = try LogObserver(
      SQLiteDatabase(at: directory.path),
      markFile: files.path + "/mark"
    )
    for revision: Int64 in 1...50 { try store.commit(batch(revision...revision)) }
    try store.fold()
    try store.commit(batch(51...600))
    observer.look()
    #expect(mark.revision == 600)
    for revision: Int64 in 601...650 { try store.commit(batch(revision...revision)) }
    // Closing folds the whole log.
    try store.close()
    #expect(try StoreFile(at: directory.path).commits(after: 0) == nil)
    let commits = try observer.finish()
    #expect(commits.gapCount == 0)
    #expect(revisions(commits) == Array(1...650))
    #expect(commits.finalRevision == 650)
    // The batches that stayed in the log are not applied twice.
    let again = try SQLiteTreeStore(directory: directory.path, now: 0, options: options)
    #expect(try again.load().root == commits.finalRoot)
    try again.commit(batch(651...651))
    try again.close()
  }

  @Test("A log observer fails where there is no store")
  func nothing() throws {
    #expect(throws: StoreError.self) { try LogObserver(SQLiteDatabase(at: directory.path)) }
  }

  // MARK: The stream

  private static let client = HTTPClient(
    group: MultiThreadedEventLoopGroup.singleton,
    trust: .system,
    timeout: .seconds(30)
  )

  private func send(
    _ method: String,
    _ path: String,
    _ body: String,
    to target: ConnectionTarget
  ) async throws {
    let answer = try await Self.client.send(
      HTTPClientRequest(method, to: target, path: "\(path).json", body: Array(body.utf8))
    )
    #expect(answer.status == 200)
  }

  /// Waits until an observer of the stream has seen something.
  private func wait(
    for observer: StreamObserver,
    until isSeen: @escaping @Sendable (CommitHistory) -> Bool
  ) async throws {
    try await wait { observer.observed.map(isSeen) ?? false }
  }

  /// Waits until a condition holds, within a deadline.
  private func wait(until condition: @escaping @Sendable () -> Bool) async throws {
    let isMet = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      DispatchQueue.global().async {
        let deadline = Date().addingTimeInterval(60)
        while Date() < deadline {
          if condition() { return continuation.resume(returning: true) }
          usleep(2_000)
        }
        continuation.resume(returning: condition())
      }
    }
    try #require(isMet)
  }

  @Test("A stream observer sees every commit in order and a multi-path update as one")
  func stream() async throws {
    let socket = directory.file("s")
    let server = try await DatabaseServer.start(DatabaseServer.Options(socketPath: socket))
    let target = ConnectionTarget(unixSocket: socket, namespace: "hearth")
    try await send("PUT", "/a", "1", to: target)
    let observer = StreamObserver(client: Self.client, target: target)
    try await observer.start()
    try await send("PUT", "/b/c", "{\"d\": 2}", to: target)
    try await send("PATCH", "/", "{\"a\": null, \"b/c/d\": 3, \"b/e\": \"x\"}", to: target)
    try await wait(for: observer) { $0.commitCount == 2 }
    let commits = try await observer.finish()
    #expect(commits.root.json(.value).text == "{\"a\":1}")
    #expect(revisions(commits) == [1, 2])
    #expect(!commits.hasRevisions)
    let changes = commits.entries.compactMap { entry in
      if case .commit(let commit, _) = entry { commit.changes.map(\.path.description) } else { nil }
    }
    #expect(changes.map { $0.sorted() } == [["/b/c"], ["/a", "/b/c/d", "/b/e"]])
    #expect(commits.finalRoot.json(.value).text == "{\"b\":{\"c\":{\"d\":3},\"e\":\"x\"}}")
    await server.stop()
  }

  @Test("A stream observer records an outage as a gap")
  func restart() async throws {
    let socket = directory.file("s")
    let first = try await DatabaseServer.start(DatabaseServer.Options(socketPath: socket))
    let target = ConnectionTarget(unixSocket: socket, namespace: "hearth")
    let observer = StreamObserver(client: Self.client, target: target)
    try await observer.start()
    try await send("PUT", "/a", "1", to: target)
    try await wait(for: observer) { $0.commitCount == 1 }
    await first.stop()
    let second = try await DatabaseServer.start(DatabaseServer.Options(socketPath: socket))
    try await wait(for: observer) { $0.gapCount == 1 }
    try await send("PUT", "/z", "9", to: target)
    try await wait(for: observer) { $0.commitCount == 2 }
    let commits = try await observer.finish()
    let kinds = commits.entries.map { entry in
      switch entry {
      case .commit: "commit"
      case .jump: "jump"
      case .crash: "crash"
      }
    }
    #expect(kinds == ["commit", "jump", "commit"])
    #expect(commits.finalRoot.json(.value).text == "{\"z\":9}")
    await second.stop()
  }

  @Test("A stream observer that is denied access fails instead of seeing an empty database")
  func refused() async throws {
    let server = try await DatabaseServer.start(DatabaseServer.Options(port: 0))
    let port = try #require(server.port)
    let observer = StreamObserver(
      client: Self.client,
      target: ConnectionTarget(host: "127.0.0.1", port: port, namespace: "hearth")
    )
    await #expect(throws: HTTPClientError.self) { try await observer.start() }
    await server.stop()
  }
}
