import Foundation
import TestSupport
import Testing

/// Commands as one types them, several sessions at a time.
@Suite("Sessions", .tags(.endToEnd), .timeLimit(.minutes(5)))
struct SessionTests {
  private static let isUpdate = ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1"
  private static let files = Transcript.files(in: "Sessions")

  @Test(
    "A session goes as it is written",
    .disabled(if: isUpdate),
    arguments: files.flatMap { Transcript.all(of: $0) }
  )
  func asWritten(_ session: Transcript) throws {
    try session.expect(with: SessionPlayer.self)
  }

  @Test("Sessions are written anew", .enabled(if: isUpdate), arguments: files)
  func update(_ file: URL) throws {
    try Transcript.update(file, with: SessionPlayer.self)
  }
}
