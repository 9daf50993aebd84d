import TestSupport
import Testing

/// Commands as one types them, several sessions at a time.
@Suite("Sessions", .tags(.endToEnd), .timeLimit(.minutes(5)))
struct SessionTests {
  @Test("A session goes as it is written", arguments: Transcript.all(in: "Sessions"))
  func asWritten(_ session: Transcript) throws {
    try session.expect(with: SessionPlayer.self)
  }
}
