import Foundation
import TestSupport
import Testing

@Suite("The client engine: transcripts")
struct TranscriptTests {
  private static let isUpdate = ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1"
  private static let files = Transcript.files(in: "Transcripts")

  @Test(
    "A transcript goes as it is written",
    .disabled(if: isUpdate),
    arguments: files.flatMap { Transcript.all(of: $0) }
  )
  func asWritten(_ transcript: Transcript) throws {
    try transcript.expect(with: EnginePlayer.self)
  }

  @Test("Transcripts are written anew", .enabled(if: isUpdate), arguments: files)
  func update(_ file: URL) throws {
    try Transcript.update(file, with: EnginePlayer.self)
  }
}
