import TestSupport
import Testing

@Suite("The client engine: transcripts")
struct TranscriptTests {
  @Test("A transcript goes as it is written", arguments: Transcript.all(in: "Transcripts"))
  func asWritten(_ transcript: Transcript) throws {
    try transcript.expect(with: EnginePlayer.self)
  }
}
