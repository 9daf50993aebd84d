import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("A copy of a database that another server leads")
struct FollowingMachineTests {
  @Test("A copy goes as it is written", arguments: Transcript.all(in: "Copies"))
  func asWritten(_ copy: Transcript) throws {
    try copy.expect(with: CopyPlayer.self)
  }
}

/// Plays the lines of a ``Transcript`` to a copy.
///
///     begins REVISION [LINEAGE]      the leader tells where its stream begins
///     commits FIRST-LAST, mark N     the leader's commits, and its confirmation of a mark
///     loaded REVISION, loaded none   what the storage has, in the history a
///     ask N, turn                    a read; the end of a turn, with the mark that is sent
///     changed, fault                 the leader is another one; the copy cannot be kept up to date
///     following, ended               whether it is so
private struct CopyPlayer: TranscriptPlayer {
  private var copy = Following<Int>()

  static func isStart(_ line: String) -> Bool { false }

  init(_ lines: [String]) {}

  mutating func outcome(of line: String) throws -> Transcript.Outcome {
    let words = line.split(separator: " ").map(String.init)
    let numbers = words.dropFirst().first?.split(separator: "-").compactMap { Int64($0) } ?? []
    let outputs: [Following<Int>.Output]
    switch (words[0], numbers.first, numbers.last) {
    case ("begins", let revision?, _):
      let lineage = words.count > 2 ? words[2] : nil
      outputs = copy.receive(.beginning(revision: revision, lineage: lineage), bytes: 1)
    case ("commits", let first?, let last?):
      let commits = (first...last).map { Commit(revision: $0, timestamp: 0, changes: []) }
      outputs = copy.receive(.commits(commits), bytes: 1)
    case ("mark", let mark?, _): outputs = copy.receive(.mark(Int(mark)), bytes: 1)
    case ("loaded", let revision, _):
      outputs = copy.loaded(revision.map { StoredTree(revision: $0, lineage: "a") })
    case ("ask", let read?, _): outputs = copy.ask(Int(read))
    case ("turn", _, _):
      return Transcript.Outcome(answer: copy.turnEnded().map { "mark \($0)" } ?? "none")
    case ("changed", _, _): outputs = copy.leaderChanged(because: "it is lost")
    case ("fault", _, _): outputs = copy.end(.fault, because: "it is damaged")
    case ("following", _, _): return Transcript.Outcome(answer: "\(copy.isFollowing)")
    case ("ended", _, _): return Transcript.Outcome(answer: "\(copy.hasEnded)")
    default: throw Transcript.UnknownLine(text: line)
    }
    return Transcript.Outcome(lines: outputs.map { "= " + Self.text($0) })
  }

  private static func text(_ output: Following<Int>.Output) -> String {
    switch output {
    case .load: "load"
    case .begin(let stored): "begin at \(stored.revision)"
    case .commit(let commits): "commit \(commits.map(\.revision))"
    case .setRules(let source): "rules \(source)"
    case .takeOver: "take over"
    case .awaitEndOfTurn: "await the end of the turn"
    case .answer(let reads): "answer \(reads)"
    case .refuse(let read): "refuse \(read)"
    case .end(.leaderChanged(let lineage), let reads, let reason):
      "end in the history \(lineage ?? "-"), refusing \(reads): \(reason)"
    case .end(let ending, let reads, let reason): "end by \(ending), refusing \(reads): \(reason)"
    }
  }
}
