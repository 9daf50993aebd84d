import Dispatch
import RealtimeCore
import RealtimeServer

/// A store that makes one of the mistakes that stores can make.
///
/// Only the server's store thread uses it, one call at a time; `queue` performs postponed commits.
final class MistakenStore: TreeStore, @unchecked Sendable {
  /// How long an acknowledged write is postponed.
  private static let delay = DispatchTimeInterval.milliseconds(700)

  private let store: any TreeStore
  private let mistake: Mistake
  private let queue = DispatchQueue(label: "MistakenStore")
  private let underWay = DispatchGroup()
  // Safety: touched only within `commit`, of which there is one at a time.
  /// How many more commits there are than the server knows of.
  private var surplus: Int64 = 0
  // Safety: as above.
  private var stars = 0
  // Safety: as above.
  /// The count of each post and each copy, as the server knows it.
  private var counts: [Path: Int64] = [:]

  init(_ store: any TreeStore, _ mistake: Mistake) {
    self.store = store
    self.mistake = mistake
  }

  func load() throws -> StoredTree { try store.load() }

  func commit(_ batch: CommitBatch) throws {
    switch mistake {
    case .earlyAcknowledgement:
      // Deadlines are ascending, which preserves the order.
      underWay.enter()
      queue.asyncAfter(deadline: .now() + Self.delay) { [self] in
        try? store.commit(batch)
        underWay.leave()
      }
    case .splitUpdate:
      var batch = batch
      batch.commits = batch.commits.flatMap(halves)
      try store.commit(batch)
    case .doubleStar:
      var batch = batch
      batch.commits = batch.commits.map(countingTwice)
      try store.commit(batch)
    case .unaskedRules, .lostPush, .latePush, .reorderedPush: try store.commit(batch)
    }
  }

  func close() throws {
    underWay.wait()
    try store.close()
  }

  /// Splits an update of posts and their copies into two commits; leaves any other commit whole.
  private func halves(_ commit: Commit) -> [Commit] {
    var (first, second) = (commit, commit)
    first.changes = commit.changes.filter { $0.path.first == "posts" }
    second.changes = commit.changes.filter { $0.path.first != "posts" }
    first.revision += surplus
    guard !first.changes.isEmpty, !second.changes.isEmpty else {
      var whole = commit
      whole.revision += surplus
      return [whole]
    }
    surplus += 1
    second.revision += surplus
    return [first, second]
  }

  /// Counts every fifth star twice, at each path where the commit counts it.
  private func countingTwice(_ commit: Commit) -> Commit {
    var counted: [(index: Int, place: Path, count: Int64)] = []
    var isStar = false
    for (index, change) in commit.changes.enumerated() {
      let (place, node) =
        change.path.last == "starCount"
        ? (change.path.parent ?? .root, change.node)
        : (change.path, change.node["starCount" as ChildKey])
      guard let count = node.leafValue?.number.map({ Int64($0) }) else { continue }
      isStar = isStar || count > counts[place, default: 0]
      counts[place] = count
      counted.append((index, place, count))
    }
    if isStar { stars += 1 }
    guard isStar, stars.isMultiple(of: 5) else { return commit }
    var commit = commit
    for (index, place, count) in counted {
      let isCount = commit.changes[index].path != place
      commit.changes[index].node.update(
        at: isCount ? .root : "/starCount",
        to: .integer(count + 1)
      )
    }
    return commit
  }
}
