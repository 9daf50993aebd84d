import TestSupport
import Testing

@Suite("Invariants: histories")
struct InvariantHistoryTests {
  @Test("A history is judged as it is written", arguments: Transcript.all(in: "Histories"))
  func asWritten(_ history: Transcript) throws {
    try history.expect(with: HistoryPlayer.self)
  }
}
