import Foundation
import TestSupport
import Testing

@Suite("TreeHub: conversations")
struct ConversationTests {
  private static let isUpdate = ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1"
  private static let files = Transcript.files(in: "Conversations")

  @Test(
    "A conversation goes as it is written",
    .disabled(if: isUpdate),
    arguments: files.flatMap { Transcript.all(of: $0) }
  )
  func asWritten(_ conversation: Transcript) throws {
    try conversation.expect(with: ConversationPlayer.self)
  }

  @Test("Conversations are written anew", .enabled(if: isUpdate), arguments: files)
  func update(_ file: URL) throws {
    try Transcript.update(file, with: ConversationPlayer.self)
  }
}
