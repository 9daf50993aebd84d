import TestSupport
import Testing

@Suite("TreeHub: conversations")
struct ConversationTests {
  @Test("A conversation goes as it is written", arguments: Transcript.all(in: "Conversations"))
  func asWritten(_ conversation: Transcript) throws {
    try conversation.expect(with: ConversationPlayer.self)
  }
}
