import RealtimeCore
import RealtimeServer
import Testing

/// A stranger must not be able to keep a hub busy for long.
@Suite("TreeHub: work requested by unauthenticated clients")
struct WorkAttackTests {
  private static let closed = #"{"rules":{".read":true,"own":{".write":"auth != null"}}}"#

  /// An update of many paths, the last of which is invalid.
  private func update(_ count: Int) -> WriteRequest {
    var changes = (0..<count).map { Change(Path([ChildKey("k\($0)")]), to: .integer(1)) }
    changes.append(Change(Path([ChildKey("no.place")]), to: .integer(1)))
    return WriteRequest(path: "own", operation: .merge(changes))
  }

  private func answer(_ request: ClientRequest, _ dialogue: inout Dialogue) -> [String] {
    answer(.request(id: 1, request), &dialogue)
  }

  private func answer(_ message: ClientMessage, _ dialogue: inout Dialogue) -> [String] {
    dialogue.texts(dialogue.hub.handle(message, from: PeerID(0), at: dialogue.clock))
      + dialogue.commit()
  }

  @Test("A large update without permission is refused before its paths are checked")
  func refusedUpdate() throws {
    var dialogue = try Dialogue("null", rules: Self.closed)
    #expect(
      statuses(answer(ClientRequest.write(update(5_000)), &dialogue)) == ["permission_denied"]
    )
    dialogue.signIn("alice")
    #expect(statuses(answer(ClientRequest.write(update(5_000)), &dialogue)) == ["invalid_data"])
  }

  @Test("A large onDisconnect update without permission is refused before its paths are checked")
  func refusedSchedule() throws {
    var dialogue = try Dialogue("null", rules: Self.closed)
    let write = update(5_000)
    let request = ClientRequest.onDisconnect(path: write.path, write.operation)
    #expect(statuses(answer(request, &dialogue)) == ["permission_denied"])
  }

  @Test("A large update permitted at only one path is refused just as early for the others")
  func mixedUpdate() throws {
    func rules(_ others: String) -> String {
      #"{"rules":{"own":{"k0":{".write":true},"$k":{".write":"\#(others)"}}}}"#
    }
    var dialogue = try Dialogue("null", rules: rules("auth != null && newData.exists()"))
    #expect(
      statuses(answer(ClientRequest.write(update(5_000)), &dialogue)) == ["permission_denied"]
    )
    // A condition that depends on the new data alone examines that data.
    dialogue = try Dialogue("null", rules: rules("newData.val() == auth"))
    #expect(statuses(answer(ClientRequest.write(update(5_000)), &dialogue)) == ["invalid_data"])
  }

  @Test("A write with too many values is refused, except for administrators")
  func values() throws {
    var limits = ServerLimits()
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

  // MARK: Large answers

  private static let large =
    #"{"a":{"\#(String(repeating: "k", count: 300))":"\#(String(repeating: "x", count: 400))"}}"#

  private func dialogue() throws -> Dialogue {
    var limits = ServerLimits()
    limits.composedBytes = 500
    return try Dialogue(Self.large, limits: limits, peers: 2)
  }

  private func outputs(_ request: ClientRequest, _ dialogue: inout Dialogue) -> [HubOutput] {
    dialogue.hub.handle(.request(id: 7, request), from: PeerID(0), at: dialogue.clock)
  }

  private func composition(_ outputs: [HubOutput]) -> Composition? {
    guard outputs.count == 1, case .compose(_, let composition)? = outputs.first else { return nil }
    return composition
  }

  @Test("A large response is encoded outside the hub and shows the data of its moment")
  func largeGet() throws {
    var dialogue = try dialogue()
    let composition = composition(outputs(.get(path: "a", query: .all), &dialogue))
    _ = dialogue.ask(8, "p", #"{"p":"/a","d":null}"#, from: 1)
    let result = try #require(composition).composed()
    #expect(!result.isRefused)
    let data = try #require(try JSONParser.parse(Self.large)["a"])
    #expect(
      result.messages.map { sortedJSON(String(decoding: $0.bytes, as: UTF8.self)) }
        == [response(7, "ok", data.text)]
    )
  }

  @Test("A large listen is encoded outside the hub, with the data before the response")
  func largeListen() throws {
    var dialogue = try dialogue()
    let data = try #require(try JSONParser.parse(Self.large)["a"])
    let hash = try Node(json: data).hash
    for (known, pushes) in [("", 1), (hash, 0), ("other", 1)] {
      let listen = ListenRequest(path: "a", hash: known)
      let composition = composition(outputs(.listen(listen), &dialogue))
      let texts = try #require(composition).composed().messages
        .map { sortedJSON(String(decoding: $0.bytes, as: UTF8.self)) }
      let expected = push("d", #"{"p":"a","d":\#(data.text)}"#)
      #expect(texts == Array(repeating: expected, count: pushes) + [response(7, "ok", "{}")])
    }
  }

  @Test("A listen whose data turns out to be too large is refused and gets no later events")
  func tooLongListen() throws {
    var limits = ServerLimits()
    limits.composedBytes = 500
    limits.responseBytes = 600
    var dialogue = try Dialogue(Self.large, limits: limits, peers: 2)
    let found = composition(outputs(.listen(ListenRequest(path: "a")), &dialogue))
    let composition = try #require(found)
    let result = composition.composed()
    #expect(result.isRefused)
    #expect(
      statuses(result.messages.map { String(decoding: $0.bytes, as: UTF8.self) }) == ["too_big"]
    )
    #expect(dialogue.hub.listenCount(of: PeerID(0)) == 1)
    _ = dialogue.hub.compositionFailed(composition, of: PeerID(0))
    #expect(dialogue.hub.listenCount(of: PeerID(0)) == 0)
    #expect(dialogue.ask(9, "p", #"{"p":"/a","d":1}"#, from: 1) == ["1: " + response(9)])
  }

  @Test("The hash of large data is computed elsewhere and is used while the data stays the same")
  func largeCondition() throws {
    var dialogue = try dialogue()
    func write(_ hash: String) -> ClientMessage {
      .request(id: 5, .write(WriteRequest(path: "a", operation: .set(.integer(1)), hash: hash)))
    }
    // A false hash shows that the hub uses it, and that it does not once the data has changed.
    for (isChanged, status) in [(false, "ok"), (true, "datastale")] {
      dialogue = try self.dialogue()
      let found = dialogue.hub.dataToHash(for: write("believed"), from: PeerID(0))
      let node = try #require(found)
      if isChanged { _ = dialogue.ask(6, "p", #"{"p":"/a/b","d":1}"#, from: 1) }
      dialogue.hub.learn("believed", of: node)
      #expect(statuses(answer(write("believed"), &dialogue)) == [status])
    }
    #expect(dialogue.hub.dataToHash(for: write("x"), from: PeerID(9)) == nil)
  }

  @Test("Small or unreadable data is not handed out for hashing")
  func smallCondition() throws {
    func node(_ data: String, _ rules: String?) throws -> Node? {
      var limits = ServerLimits()
      limits.composedBytes = 500
      var dialogue = try Dialogue(data, rules: rules, limits: limits)
      let write = WriteRequest(path: "a", operation: .set(.integer(1)), hash: "x")
      return dialogue.hub.dataToHash(for: .request(id: 1, .write(write)), from: PeerID(0))
    }
    #expect(try node(#"{"a":{"b":1}}"#, nil) == nil)
    #expect(try node(Self.large, #"{"rules":{".write":true}}"#) == nil)
    #expect(try node(Self.large, #"{"rules":{".read":true}}"#) != nil)
  }
}
