import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: a session")
struct SessionTests {
  @Test("The worked session of the specification is reproduced frame by frame")
  func workedSession() throws {
    var dialogue = try Dialogue(
      #"{"rooms":{"r1":{"title":"Hi","n":1}},"msgs":{"-Na":"x","-Nb":"y"}}"#
    )
    #expect(dialogue.ask(1, "s", #"{"c":{"sdk.js.9-5-0":1}}"#) == [response(1)])
    #expect(statuses(dialogue.ask(2, "auth", #"{"cred":"u1"}"#)) == ["ok"])
    #expect(
      dialogue.ask(3, "q", #"{"p":"/rooms/r1","h":""}"#) == [
        push("d", #"{"p":"rooms/r1","d":{"title":"Hi","n":1}}"#), response(3, "ok", "{}"),
      ]
    )
    #expect(
      dialogue.ask(4, "q", #"{"p":"/msgs","q":{"l":2,"vf":"r"},"t":1,"h":""}"#) == [
        push("d", #"{"p":"msgs","d":{"-Na":"x","-Nb":"y"},"t":1}"#), response(4, "ok", "{}"),
      ]
    )
    #expect(
      dialogue.ask(5, "p", #"{"p":"/rooms/r1/at","d":{".sv":"timestamp"}}"#) == [
        push("d", #"{"p":"rooms/r1/at","d":1700000001234}"#), response(5),
      ]
    )
    #expect(
      dialogue.ask(
        6,
        "m",
        #"{"p":"/","d":{"rooms/r1/n":{".sv":{"increment":1}},"msgs/-Nc":"z"}}"#
      ) == [
        push("m", #"{"p":"msgs","d":{"-Nc":"z","-Na":null},"t":1}"#),
        push("m", #"{"p":"rooms/r1","d":{"n":2}}"#),
        response(6),
      ]
    )
    #expect(
      dialogue.ask(7, "p", #"{"p":"/rooms/r1/n","d":3,"h":"\#(Node.integer(2).hash)"}"#) == [
        push("d", #"{"p":"rooms/r1/n","d":3}"#), response(7),
      ]
    )
    #expect(dialogue.ask(9, "om", #"{"p":"/rooms/r1","d":{"presence/u1":null}}"#) == [response(9)])
    #expect(
      dialogue.ask(10, "g", #"{"p":"/rooms","q":{"l":1,"vf":"l","i":".key"}}"#) == [
        response(10, "ok", #"{"r1":{"title":"Hi","n":3,"at":1700000001234}}"#)
      ]
    )
    #expect(
      dialogue.say(#"{"t":"c","d":{"t":"p","d":{}}}"#) == [
        sortedJSON(#"{"t":"c","d":{"t":"o","d":{}}}"#)
      ]
    )
    #expect(
      dialogue.ask(11, "n", #"{"p":"/msgs","q":{"l":2,"vf":"r"},"t":1}"#) == [response(11)]
    )
    #expect(dialogue.ask(12, "p", #"{"p":"/msgs/-Nd","d":"w"}"#) == [response(12)])
  }

  @Test("The greeting announces exactly-once writes")
  func hello() {
    let hello = TreeHub.hello(timestamp: 5, host: "localhost:9000", session: "s")
    #expect(hello.extensions == [.writeOnce])
    #expect(hello.version == "5")
    #expect(hello.host == "localhost:9000")
  }

  @Test("A pong contains the member d, without which clients ignore it")
  func pong() throws {
    var dialogue = try Dialogue()
    #expect(
      dialogue.say(#"{"t":"c","d":{"t":"p","d":{}}}"#) == [#"{"d":{"d":{},"t":"o"},"t":"c"}"#]
    )
  }

  @Test("A push of null contains the member d too")
  func pushOfNull() throws {
    var dialogue = try Dialogue(#"{"x":1}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/x","h":""}"#)
    #expect(
      dialogue.ask(2, "p", #"{"p":"/x","d":null}"#) == [
        push("d", #"{"p":"x","d":null}"#), response(2),
      ]
    )
  }

  @Test(
    "Paths may have extra slashes and are never percent-decoded",
    arguments: ["/a b/ü", "a b/ü", "/a b//ü/", "a b/ü/"]
  )
  func pathSpelling(path: String) throws {
    var dialogue = try Dialogue(#"{"a b":{"ü":1},"%41":2}"#)
    #expect(dialogue.ask(1, "g", #"{"p":"\#(path)","q":{}}"#) == [response(1, "ok", "1")])
    #expect(dialogue.ask(2, "g", #"{"p":"/%41","q":{}}"#) == [response(2, "ok", "2")])
  }

  @Test("The root may be written as an empty string or a slash", arguments: ["", "/"])
  func rootSpelling(path: String) throws {
    var dialogue = try Dialogue(#"{"a":1}"#)
    #expect(dialogue.ask(1, "g", #"{"p":"\#(path)","q":{}}"#) == [response(1, "ok", #"{"a":1}"#)])
  }

  @Test(
    "App Check tokens are accepted under all their action names",
    arguments: ["appcheck", "unappeck", "unappcheck"]
  )
  func appCheck(action: String) throws {
    var dialogue = try Dialogue()
    #expect(statuses(dialogue.ask(1, action, #"{"token":"t"}"#)) == ["ok"])
  }

  @Test("A second listen to the same query does not duplicate pushes")
  func duplicateListen() throws {
    var dialogue = try Dialogue()
    for id in 1...2 {
      #expect(dialogue.ask(id, "q", #"{"p":"/x","h":""}"#) == [response(id, "ok", "{}")])
    }
    for id in 3...4 {
      _ = dialogue.ask(id, "q", #"{"p":"/x","q":{"l":2,"vf":"r"},"t":\#(id),"h":""}"#)
    }
    #expect(
      dialogue.ask(5, "p", #"{"p":"/x/a","d":1}"#) == [
        push("d", #"{"p":"x/a","d":1}"#), push("d", #"{"p":"x/a","d":1,"t":4}"#), response(5),
      ]
    )
    #expect(dialogue.ask(6, "n", #"{"p":"/x"}"#) == [response(6)])
    #expect(dialogue.ask(7, "n", #"{"p":"/x","q":{"l":2,"vf":"r"},"t":4}"#) == [response(7)])
    #expect(dialogue.ask(8, "p", #"{"p":"/x/a","d":2}"#) == [response(8)])
  }

  @Test("An unlisten for an unknown listen is answered with ok")
  func unknownUnlisten() throws {
    var dialogue = try Dialogue()
    #expect(dialogue.ask(1, "n", #"{"p":"/nowhere"}"#) == [response(1)])
  }

  @Test("A listen with a compound hash gets the ranges that differ")
  func compoundHash() throws {
    var dialogue = try Dialogue(#"{"a":1}"#)
    #expect(
      dialogue.ask(1, "q", #"{"p":"/","h":"x","ch":{"hs":["y",""],"ps":["a"]}}"#) == [
        push("rm", #"{"p":"","d":[{"e":"a","m":{"a":1}}]}"#), response(1, "ok", "{}"),
      ]
    )
  }

  @Test("A listen whose hash matches gets no data")
  func matchingHash() throws {
    var dialogue = try Dialogue(#"{"a":{"b":1,"c":2}}"#)
    let whole = try Node(json: .object(("b", .integer(1)), ("c", .integer(2))))
    #expect(
      dialogue.ask(1, "q", #"{"p":"/a","h":"\#(whole.hash)"}"#) == [response(1, "ok", "{}")]
    )
    let window = try Node(json: .object(("c", .integer(2))))
    #expect(
      dialogue.ask(2, "q", #"{"p":"/a","q":{"l":1,"vf":"r"},"t":1,"h":"\#(window.hash)"}"#)
        == [response(2, "ok", "{}")]
    )
    #expect(dialogue.ask(3, "q", #"{"p":"/none","h":""}"#) == [response(3, "ok", "{}")])
  }

  @Test("A listen whose data is gone gets null")
  func goneData() throws {
    var dialogue = try Dialogue()
    #expect(
      dialogue.ask(1, "q", #"{"p":"/a","h":"\#(Node.integer(1).hash)"}"#) == [
        push("d", #"{"p":"a","d":null}"#), response(1, "ok", "{}"),
      ]
    )
  }

  @Test("A closed or unknown peer is ignored and gets nothing")
  func unknownPeer() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "q", #"{"p":"/","h":""}"#, from: 1)
    #expect(dialogue.close(1) == [])
    #expect(dialogue.ask(2, "p", #"{"p":"/a","d":1}"#, from: 1) == [])
    #expect(dialogue.ask(3, "p", #"{"p":"/a","d":1}"#) == [response(3)])
    #expect(dialogue.close(7) == [])
  }
}
