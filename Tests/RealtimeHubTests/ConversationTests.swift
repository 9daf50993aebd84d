import Foundation
import Testing

@Suite("TreeHub: conversations")
struct ConversationTests {
  private static let isUpdate = ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1"

  @Test(
    "A conversation goes as it is written",
    .disabled(if: isUpdate),
    arguments: Conversation.all
  )
  func asWritten(_ conversation: Conversation) throws {
    #expect(conversation.lines.contains { $0.outcome != Conversation.Outcome() })
    try conversation.play { line, outcome in
      let place = "\(conversation.file.lastPathComponent):\(line.number + 1): \(line.text)"
      #expect(outcome == line.outcome, "\(place)")
    }
  }

  @Test("Conversations are written anew", .enabled(if: isUpdate), arguments: Conversation.files)
  func update(_ file: URL) throws { try Conversation.update(file) }
}
