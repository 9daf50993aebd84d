import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("A copy of a database that another server leads")
struct FollowingMachineTests {
  private func commits(_ revisions: ClosedRange<Int64>) -> FollowerMessage {
    .commits(revisions.map { Commit(revision: $0, timestamp: 0, changes: []) })
  }

  /// A copy whose leader has told where its stream begins.
  private func copy(after revision: Int64, lineage: String? = "a") -> Following<Int> {
    var copy = Following<Int>()
    let outputs = copy.receive(.beginning(revision: revision, lineage: lineage), bytes: 1)
    #expect(outputs.map { "\($0)" } == ["load"])
    return copy
  }

  private func revisions(_ outputs: [Following<Int>.Output]) -> [Int64] {
    outputs.flatMap { output in
      if case .commit(let commits) = output { commits.map(\.revision) } else { [Int64]() }
    }
  }

  @Test("Commits sent while the storage is read are applied after it, each once")
  func reading() {
    var copy = copy(after: 4)
    #expect(copy.receive(commits(5...6), bytes: 1).isEmpty)
    #expect(copy.receive(commits(7...8), bytes: 1).isEmpty)
    #expect(revisions(copy.loaded(StoredTree(revision: 6, lineage: "a"))) == [7, 8])
    #expect(copy.isFollowing)
    #expect(revisions(copy.receive(commits(8...9), bytes: 1)) == [9])
  }

  @Test("A copy starts only once the leader has sent everything the storage had")
  func ahead() {
    var copy = copy(after: 4)
    #expect(copy.loaded(StoredTree(revision: 6, lineage: "a")).isEmpty)
    #expect(copy.receive(commits(5...5), bytes: 1).isEmpty)
    #expect(!copy.isFollowing)
    #expect(revisions(copy.receive(commits(6...7), bytes: 1)) == [7])
    #expect(copy.isFollowing)
  }

  @Test("A copy ends if a commit is missing, or the storage lacks what the leader has")
  func gaps() {
    var gap = copy(after: 4)
    _ = gap.loaded(StoredTree(revision: 4, lineage: "a"))
    #expect(gap.isFollowing)
    _ = gap.receive(commits(6...6), bytes: 1)
    #expect(gap.hasEnded)
    var old = copy(after: 4)
    _ = old.loaded(StoredTree(revision: 3, lineage: "a"))
    #expect(old.hasEnded)
    var missing = copy(after: 4)
    _ = missing.loaded(nil)
    #expect(missing.hasEnded)
  }

  @Test(
    "A copy's earlier data is reused only within the history that the leader reads",
    arguments: [("a", "a"), ("b", nil), (nil, nil)] as [(String?, String?)]
  )
  func history(of leader: String?, known: String?) throws {
    var copy = copy(after: 4, lineage: leader)
    _ = copy.loaded(StoredTree(revision: 4, lineage: "a"))
    #expect(copy.isFollowing)
    guard case .end(.leaderChanged(let lineage), _, _)? = copy.leaderChanged(because: "").first
    else { throw Unexpected("the copy goes on") }
    #expect(lineage == known)
  }

  @Test("Reads of a turn share a mark, wait for it, and are refused when the copy ends")
  func marks() throws {
    var copy = copy(after: 4)
    _ = copy.loaded(StoredTree(revision: 4, lineage: "a"))
    #expect(copy.ask(1).map { "\($0)" } == ["awaitEndOfTurn"])
    #expect(copy.ask(2).isEmpty)
    #expect(copy.turnEnded() == 1)
    #expect(copy.turnEnded() == nil)
    _ = copy.ask(3)
    #expect(copy.turnEnded() == 2)
    _ = copy.ask(4)
    #expect(copy.receive(.mark(1), bytes: 1).map { "\($0)" } == ["answer([1, 2])"])
    guard case .end(.fault, refusing: [3, 4], _)? = copy.end(.fault, because: "").first
    else { throw Unexpected("the reads still wait") }
    #expect(copy.ask(5).map { "\($0)" } == ["refuse(5)"])
    #expect(copy.turnEnded() == nil)
  }
}
