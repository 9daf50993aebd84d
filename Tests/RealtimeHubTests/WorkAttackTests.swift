import RealtimeHub
import RealtimeProtocol
import RealtimeTree
import Testing

/// A stranger must not be able to make a hub work for long.
@Suite("TreeHub: work that a stranger asks for")
struct WorkAttackTests {
  private static let closed = #"{"rules":{".read":true,"own":{".write":"auth != null"}}}"#

  /// An update of many places, the last of which is none.
  private func update(_ count: Int) -> ClientMessage {
    var changes = (0..<count).map { Change(Path([ChildKey("k\($0)")]), .integer(1)) }
    changes.append(Change(Path([ChildKey("no.place")]), .integer(1)))
    return .request(id: 1, .write(WriteRequest(path: "own", operation: .merge(changes))))
  }

  private func answer(_ message: ClientMessage, _ dialogue: inout Dialogue) -> [String] {
    dialogue.texts(dialogue.hub.handle(message, from: PeerID(0), at: dialogue.clock))
      + dialogue.commit()
  }

  @Test("Who may not make a large update is refused before anybody looks at its places")
  func refusedUpdate() throws {
    var dialogue = try Dialogue("null", rules: Self.closed)
    #expect(statuses(answer(update(5_000), &dialogue)) == ["permission_denied"])
    dialogue.signIn("alice")
    #expect(statuses(answer(update(5_000), &dialogue)) == ["invalid_data"])
  }

  @Test("Who may not schedule a large update is refused before anybody looks at its places")
  func refusedSchedule() throws {
    var dialogue = try Dialogue("null", rules: Self.closed)
    guard case .request(_, .write(let write)) = update(5_000) else { return }
    let message = ClientMessage.request(id: 1, .onDisconnect(path: write.path, write.operation))
    #expect(statuses(answer(message, &dialogue)) == ["permission_denied"])
  }

  @Test("Who may write at one place of a large update is refused for the others just as early")
  func mixedUpdate() throws {
    func rules(_ others: String) -> String {
      #"{"rules":{"own":{"k0":{".write":true},"$k":{".write":"\#(others)"}}}}"#
    }
    var dialogue = try Dialogue("null", rules: rules("auth != null && newData.exists()"))
    #expect(statuses(answer(update(5_000), &dialogue)) == ["permission_denied"])
    // What depends on the new data alone takes a look at them.
    dialogue = try Dialogue("null", rules: rules("newData.val() == auth"))
    #expect(statuses(answer(update(5_000), &dialogue)) == ["invalid_data"])
  }

  @Test("An update of more places than one may have is refused, except for administrators")
  func places() throws {
    var limits = HubLimits()
    limits.updatePlaces = 3
    var dialogue = try Dialogue(limits: limits)
    let four = #"{"p":"/a","d":{"a":1,"b":2,"c":3,"d":4}}"#
    #expect(statuses(dialogue.ask(1, "m", four)) == ["too_big"])
    #expect(statuses(dialogue.ask(2, "om", four)) == ["too_big"])
    #expect(statuses(dialogue.ask(3, "m", #"{"p":"/a","d":{"a":1,"b":2,"c":3}}"#)) == ["ok"])
    #expect(statuses(dialogue.ask(4, "p", four)) == ["ok"])
    dialogue.signIn("root")
    #expect(statuses(dialogue.ask(5, "m", four)) == ["ok"])
  }

  @Test("A write of more values than one may have is refused, except for administrators")
  func values() throws {
    var limits = HubLimits()
    limits.writeValues = 40
    var dialogue = try Dialogue(limits: limits)
    func body(_ count: Int) -> String {
      let members = (0..<count).map { #""k\#($0)":{"n":\#($0)}"# }
      return #"{"p":"/a","d":{\#(members.joined(separator: ","))}}"#
    }
    #expect(statuses(dialogue.ask(1, "p", body(41))) == ["too_big"])
    #expect(statuses(dialogue.ask(2, "m", body(41))) == ["too_big"])
    #expect(statuses(dialogue.ask(3, "p", body(40))) == ["ok"])
    dialogue.signIn("root")
    #expect(statuses(dialogue.ask(4, "p", body(41))) == ["ok"])
  }

  @Test("A hash is not computed for who may neither read nor write")
  func hashes() throws {
    // The condition fails, but nobody looks: a refusal tells nothing of it.
    var dialogue = try Dialogue(#"{"a":1}"#, rules: #"{"rules":{}}"#)
    #expect(
      statuses(dialogue.ask(1, "p", #"{"p":"/a","d":2,"h":"x"}"#)) == ["permission_denied"]
    )
  }
}
