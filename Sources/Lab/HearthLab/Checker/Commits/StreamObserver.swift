private import NIOConcurrencyHelpers
private import RealtimeCore
private import RealtimeServer
import RealtimeTransport

/// Follows a database over HTTP as an administrator: a stream of events at the root.
///
/// The stream has every commit in order but without its number, so the observer counts. When the
/// stream ends, as it does when the server ends, it is opened again, and a gap is recorded.
///
/// State: made → started (follows) → stopped. All state is guarded by `state`.
final class StreamObserver: Sendable {
  private struct State {
    var commits: CommitHistory?
    var root = Node.empty
    var revision: Int64 = 0
    var task: Task<Void, Never>?

    /// Records a change of the stream; a change of the whole data is a read after a gap.
    mutating func take(_ changes: [Change], at now: Moment) {
      for change in changes { root.update(at: change.path, to: change.node) }
      guard commits != nil else {
        commits = CommitHistory(root: root, finalRoot: root, hasRevisions: false)
        return
      }
      revision += 1
      if changes.first?.path.isRoot == true {
        commits?.entries.append(.jump(root, revision: revision, seen: now))
      } else {
        let commit = Commit(revision: revision, timestamp: 0, changes: changes)
        commits?.entries.append(.commit(commit, seen: now))
      }
    }
  }

  private let client: HTTPClient
  private let request: HTTPClientRequest
  private let state = NIOLockedValueBox(State())

  /// Creates an observer; at a local Unix socket, it needs no token of an administrator.
  init(client: HTTPClient, target: ConnectionTarget, token: String? = nil) {
    self.client = client
    let namespace = target.namespace.map { "&ns=\($0)" } ?? ""
    request = HTTPClientRequest(
      "GET",
      to: target,
      path: "/.json?format=export" + namespace,
      headerLines: token.map { [HTTPAnswer.HeaderLine("Authorization", "Bearer \($0)")] } ?? []
    )
  }

  deinit {
    state.withLockedValue { $0.task }?.cancel()
  }

  /// Starts with the existing data, and follows the changes from then on.
  func start() async throws {
    let (ready, readiness) = AsyncThrowingStream<Void, any Error>.makeStream()
    let task = Task { [client, request, state] in
      var isFirst = true
      while !Task.isCancelled {
        do {
          for try await event in client.events(of: request) {
            Self.take(event, into: state)
            if isFirst { readiness.finish() }
            isFirst = false
          }
        } catch {
          if isFirst { return readiness.finish(throwing: error) }
        }
        // A server that is starting answers a little later.
        await Pause.lasting(.milliseconds(50))
      }
      readiness.finish()
    }
    state.withLockedValue { $0.task = task }
    for try await _ in ready {}
  }

  /// What has been observed so far, or nil before the first read.
  var observed: CommitHistory? { state.withLockedValue { $0.commits } }

  /// Stops following, and returns what was recorded, with a final read of the whole database.
  func finish() async throws -> CommitHistory {
    let answer = try await client.send(request)
    let node = try Node(json: JSONParser.parse(String(decoding: answer.body, as: UTF8.self)))
    return state.withLockedValue { state in
      state.task?.cancel()
      var commits = state.commits ?? CommitHistory(finalRoot: node, hasRevisions: false)
      commits.finalRoot = node
      return commits
    }
  }

  // MARK: Events

  private static func take(_ event: ServerSentEvent, into state: NIOLockedValueBox<State>) {
    guard event.name == "put" || event.name == "patch",
      let json = try? JSONParser.parse(event.data),
      let path = json["path"]?.string.map({ Path(wire: $0) }), let data = json["data"]
    else { return }
    let changes: [Change]
    if event.name == "put" {
      guard let node = try? Node(json: data) else { return }
      changes = [Change(path, to: node)]
    } else {
      changes = (data.members ?? []).compactMap { member in
        (try? Node(json: member.value)).map {
          Change(path.appending(Path(wire: member.name)), to: $0)
        }
      }
    }
    state.withLockedValue { $0.take(changes, at: .now) }
  }
}
