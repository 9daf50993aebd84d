import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: listens that depend on data for permission")
struct ConditionalListenTests {
  static let rules = """
    {"rules": {
      "rooms": {"$room": {".read": "root.child('members/' + $room).hasChild(auth.uid)"}},
      "drafts": {"$id": {".read": "data.child('owner').val() === auth.uid"}},
      "news": {".read": "now < 2000000000000"}
    }}
    """

  /// Peer 0 is ann, peer 1 the administrator.
  private func dialogue() throws -> Dialogue {
    var dialogue = try Dialogue(
      #"{"members":{"r":{"ann":true}},"rooms":{"r":{"m":1}},"drafts":{"d":{"owner":"ann","t":1}}}"#,
      rules: Self.rules
    )
    dialogue.signIn("ann")
    dialogue.hub.open(PeerID(1), as: .administrator)
    return dialogue
  }

  @Test("A removed member receives nothing more from the room")
  func removedMember() throws {
    var dialogue = try dialogue()
    _ = dialogue.ask(1, "q", #"{"p":"/rooms/r","h":""}"#)
    _ = dialogue.ask(2, "q", #"{"p":"/rooms/r","q":{"l":1,"vf":"r"},"t":7,"h":""}"#)
    _ = dialogue.ask(1, "p", #"{"p":"/rooms/r/m","d":2}"#, from: 1)
    _ = dialogue.ask(2, "p", #"{"p":"/members/r/ann","d":null}"#, from: 1)
    #expect(
      dialogue.ask(3, "p", #"{"p":"/rooms/r/secret","d":3}"#, from: 1) == [
        push("c", #"{"p":"rooms/r"}"#),
        push("c", #"{"p":"rooms/r","q":[{"l":1,"vf":"r"}]}"#),
        "1: " + response(3),
      ]
    )
    #expect(dialogue.ask(4, "p", #"{"p":"/rooms/r","d":4}"#, from: 1) == ["1: " + response(4)])
  }

  @Test("The commit that revokes read access is not sent to the listener")
  func changeOfOwner() throws {
    var dialogue = try dialogue()
    _ = dialogue.ask(1, "q", #"{"p":"/drafts/d","h":""}"#)
    #expect(
      dialogue.ask(1, "m", #"{"p":"/drafts/d","d":{"owner":"bob","t":2}}"#, from: 1) == [
        push("c", #"{"p":"drafts/d"}"#), "1: " + response(1),
      ]
    )
  }

  @Test("A time-limited permission ends before any later event is sent")
  func time() throws {
    var dialogue = try dialogue()
    _ = dialogue.ask(1, "q", #"{"p":"/news","h":""}"#)
    #expect(
      dialogue.ask(1, "p", #"{"p":"/news","d":1}"#, from: 1) == [
        push("d", #"{"p":"news","d":1}"#), "1: " + response(1),
      ]
    )
    dialogue.clock = 2_000_000_000_000
    #expect(
      dialogue.ask(2, "p", #"{"p":"/news","d":2}"#, from: 1) == [
        push("c", #"{"p":"news"}"#), "1: " + response(2),
      ]
    )
  }

  @Test("A stale transaction does not receive data it may no longer read")
  func lateTransaction() throws {
    var dialogue = try dialogue()
    _ = dialogue.ask(1, "q", #"{"p":"/rooms/r","h":""}"#)
    _ = dialogue.ask(2, "p", #"{"p":"/members/r/ann","d":null}"#, from: 1)
    let body = #"{"p":"/rooms/r","d":9,"h":"\#(Node.integer(1).hash)"}"#
    #expect(dialogue.ask(3, "p", body) == [denial(3)])
  }
}
