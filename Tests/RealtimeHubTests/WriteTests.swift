import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: writes")
struct WriteTests {
  @Test("A window reports the child it loses to its limit")
  func windowEviction() throws {
    var dialogue = try Dialogue(#"{"A":{"a":1,"b":2}}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/A","q":{"l":2,"vf":"r"},"t":1,"h":""}"#)
    #expect(
      dialogue.ask(2, "p", #"{"p":"/A/c","d":3}"#) == [
        push("m", #"{"p":"A","d":{"c":3,"a":null},"t":1}"#), response(2),
      ]
    )
    #expect(
      dialogue.ask(3, "p", #"{"p":"/A/c","d":null}"#) == [
        push("m", #"{"p":"A","d":{"c":null,"a":1},"t":1}"#), response(3),
      ]
    )
    #expect(dialogue.ask(4, "p", #"{"p":"/A/0","d":0}"#) == [response(4)])
  }

  @Test("Integer keys are ordered as numbers in a window")
  func integerKeys() throws {
    var dialogue = try Dialogue(#"{"A":{"9":1,"10":2}}"#)
    #expect(
      dialogue.ask(1, "q", #"{"p":"/A","q":{"l":1,"vf":"r"},"t":1,"h":""}"#) == [
        push("d", #"{"p":"A","d":{"10":2},"t":1}"#), response(1, "ok", "{}"),
      ]
    )
  }

  @Test("A write above a listen reaches it")
  func writeAbove() throws {
    var dialogue = try Dialogue(#"{"a":{"b":{"c":1}}}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/a/b","h":""}"#)
    _ = dialogue.ask(2, "q", #"{"p":"/a/b","q":{"l":1,"vf":"l"},"t":1,"h":""}"#)
    #expect(
      dialogue.ask(3, "p", #"{"p":"/a","d":{"b":{"c":2},"x":1}}"#) == [
        push("d", #"{"p":"a/b","d":{"c":2}}"#), push("d", #"{"p":"a/b","d":{"c":2},"t":1}"#),
        response(3),
      ]
    )
    #expect(dialogue.ask(4, "p", #"{"p":"/a","d":{"b":{"c":2}}}"#) == [response(4)])
    #expect(
      dialogue.ask(5, "p", #"{"p":"/","d":null}"#) == [
        push("d", #"{"p":"a/b","d":null}"#), push("d", #"{"p":"a/b","d":null,"t":1}"#),
        response(5),
      ]
    )
  }

  @Test("A write below a leaf is sent as the whole node at the leaf")
  func writeBelowLeaf() throws {
    var dialogue = try Dialogue(#"{"a":{"b":5}}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/a","h":""}"#)
    #expect(
      dialogue.ask(2, "p", #"{"p":"/a/b/c/d","d":1}"#) == [
        push("d", #"{"p":"a/b","d":{"c":{"d":1}}}"#), response(2),
      ]
    )
    #expect(
      dialogue.ask(3, "p", #"{"p":"/a","d":7}"#) == [push("d", #"{"p":"a","d":7}"#), response(3)]
    )
    #expect(
      dialogue.ask(4, "p", #"{"p":"/a/x","d":1}"#) == [
        push("d", #"{"p":"a","d":{"x":1}}"#), response(4),
      ]
    )
  }

  @Test("A leaf's new priority is sent with the whole leaf, that of an inner node on its own")
  func priorities() throws {
    var dialogue = try Dialogue(#"{"a":{"b":5},"n":{"m":{"k":1}}}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/","h":""}"#)
    #expect(
      dialogue.ask(2, "p", #"{"p":"/a/b/.priority","d":3}"#) == [
        push("d", #"{"p":"a/b","d":{".value":5,".priority":3}}"#), response(2),
      ]
    )
    #expect(
      dialogue.ask(3, "p", #"{"p":"/n/m/.priority","d":"x"}"#) == [
        push("d", #"{"p":"n/m/.priority","d":"x"}"#), response(3),
      ]
    )
    #expect(
      dialogue.ask(4, "p", #"{"p":"/n/m/.priority","d":null}"#) == [
        push("d", #"{"p":"n/m/.priority","d":null}"#), response(4),
      ]
    )
  }

  @Test("A priority may arrive in the same update as its data, in any order")
  func priorityOfNewData() throws {
    var dialogue = try Dialogue("null")
    _ = dialogue.ask(1, "q", #"{"p":"/","h":""}"#)
    #expect(
      dialogue.ask(2, "m", #"{"p":"/","d":{"n/.priority":1,"n/a":2}}"#) == [
        push("m", #"{"p":"","d":{"n/a":2,"n/.priority":1}}"#), response(2),
      ]
    )
    #expect(dialogue.ask(3, "m", #"{"p":"/","d":{"n/.priority":1,"n/a":2}}"#) == [response(3)])
  }

  @Test("A priority for a missing node is refused, unless it is null")
  func priorityOfNothing() throws {
    var dialogue = try Dialogue()
    #expect(statuses(dialogue.ask(1, "p", #"{"p":"/a/.priority","d":3}"#)) == ["invalid_data"])
    #expect(statuses(dialogue.ask(2, "m", #"{"p":"/a","d":{".priority":3}}"#)) == ["invalid_data"])
    #expect(dialogue.ask(3, "p", #"{"p":"/a/.priority","d":null}"#) == [response(3)])
    #expect(!dialogue.hub.hasPendingCommits)
  }

  @Test("A write that changes nothing is acknowledged but neither pushed nor stored")
  func writeWithoutChange() throws {
    var dialogue = try Dialogue(#"{"a":{"b":1}}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/","h":""}"#)
    #expect(dialogue.askUncommitted(2, "p", #"{"p":"/a","d":{"b":1}}"#) == [response(2)])
    #expect(dialogue.askUncommitted(3, "m", #"{"p":"/","d":{}}"#) == [response(3)])
    #expect(dialogue.askUncommitted(4, "p", #"{"p":"/a/b/c","d":null}"#) == [response(4)])
    #expect(!dialogue.hub.hasPendingCommits)
  }

  @Test("An update of several paths is pushed as one merge")
  func merge() throws {
    var dialogue = try Dialogue(#"{"a":{"b":1,"c":2}}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/a","h":""}"#)
    #expect(
      dialogue.ask(2, "m", #"{"p":"/","d":{"a/b":5,"/a//c/":null,"z":9}}"#) == [
        push("m", #"{"p":"a","d":{"b":5,"c":null}}"#), response(2),
      ]
    )
  }

  @Test("An update that replaces several nodes sends each listener its own data")
  func mergeOfWholeListens() throws {
    var dialogue = try Dialogue()
    _ = dialogue.ask(1, "q", #"{"p":"/a","h":""}"#)
    _ = dialogue.ask(2, "q", #"{"p":"/b","h":""}"#)
    #expect(
      dialogue.ask(3, "m", #"{"p":"/","d":{"a":1,"b":2}}"#) == [
        push("d", #"{"p":"a","d":1}"#), push("d", #"{"p":"b","d":2}"#), response(3),
      ]
    )
  }

  @Test("Of many locations, each one affected by a write is notified exactly once")
  func manyLocations() throws {
    var dialogue = try Dialogue(peers: 4)
    for number in 1...20 { _ = dialogue.ask(number, "q", #"{"p":"/x/\#(number)","h":""}"#) }
    _ = dialogue.ask(21, "q", #"{"p":"/","h":""}"#, from: 1)
    _ = dialogue.ask(22, "q", #"{"p":"/x","h":""}"#, from: 2)
    _ = dialogue.ask(23, "q", #"{"p":"/x/3/deep","h":""}"#, from: 3)
    _ = dialogue.ask(24, "q", #"{"p":"/x","q":{"l":1,"vf":"r"},"t":1,"h":""}"#, from: 3)
    #expect(
      dialogue.ask(25, "p", #"{"p":"/x/3","d":{"deep":1}}"#) == [
        "1: " + push("d", #"{"p":"x/3","d":{"deep":1}}"#),
        "2: " + push("d", #"{"p":"x/3","d":{"deep":1}}"#),
        "3: " + push("d", #"{"p":"x/3","d":{"deep":1},"t":1}"#),
        push("d", #"{"p":"x/3","d":{"deep":1}}"#),
        "3: " + push("d", #"{"p":"x/3/deep","d":1}"#), response(25),
      ]
    )
    #expect(
      dialogue.ask(26, "m", #"{"p":"/","d":{"x/4":4,"x/5":5}}"#) == [
        "1: " + push("m", #"{"p":"","d":{"x/4":4,"x/5":5}}"#),
        "2: " + push("m", #"{"p":"x","d":{"4":4,"5":5}}"#),
        "3: " + push("m", #"{"p":"x","d":{"5":5,"3":null},"t":1}"#),
        push("d", #"{"p":"x/4","d":4}"#), push("d", #"{"p":"x/5","d":5}"#), response(26),
      ]
    )
  }

  @Test("An update with overlapping paths is refused")
  func overlappingMerge() throws {
    var dialogue = try Dialogue()
    #expect(
      statuses(dialogue.ask(1, "m", #"{"p":"/","d":{"a":1,"a/b":2}}"#)) == ["invalid_data"]
    )
  }

  @Test("Of two nested listens without a tag, only the outer one is notified")
  func nestedListens() throws {
    var dialogue = try Dialogue(peers: 2)
    _ = dialogue.ask(1, "q", #"{"p":"/a","h":""}"#)
    _ = dialogue.ask(2, "q", #"{"p":"/a/b","h":""}"#)
    _ = dialogue.ask(3, "q", #"{"p":"/a/b","h":""}"#, from: 1)
    #expect(
      dialogue.ask(4, "p", #"{"p":"/a/b/c","d":1}"#) == [
        push("d", #"{"p":"a/b/c","d":1}"#), "1: " + push("d", #"{"p":"a/b/c","d":1}"#),
        response(4),
      ]
    )
  }

  @Test("A listen without a tag below a tagged one is notified too")
  func nestedTaggedListen() throws {
    var dialogue = try Dialogue()
    _ = dialogue.ask(1, "q", #"{"p":"/a","t":5,"h":""}"#)
    _ = dialogue.ask(2, "q", #"{"p":"/a/b","h":""}"#)
    #expect(
      dialogue.ask(3, "p", #"{"p":"/a/b","d":1}"#) == [
        push("d", #"{"p":"a/b","d":1,"t":5}"#), push("d", #"{"p":"a/b","d":1}"#), response(3),
      ]
    )
  }

  @Test("An update of one child is sent as a merge to windows too")
  func mergeInWindow() throws {
    var dialogue = try Dialogue(#"{"m":{"a":1,"b":2}}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/m","q":{"l":1,"vf":"r"},"t":1,"h":""}"#)
    #expect(
      dialogue.ask(2, "m", #"{"p":"/m","d":{"b":3}}"#)
        == [push("m", #"{"p":"m","d":{"b":3},"t":1}"#), response(2)]
    )
  }

  @Test("Peers that get the same message share its bytes")
  func sharedBytes() throws {
    var dialogue = try Dialogue(peers: 3)
    for peer in 0..<3 { _ = dialogue.ask(1, "q", #"{"p":"/a","h":""}"#, from: peer) }
    let request = ClientRequest.write(
      WriteRequest(path: "a/b", operation: .set(.string(String(repeating: "x", count: 100))))
    )
    _ = dialogue.hub.handle(.request(id: 9, request), from: PeerID(0), at: 1)
    _ = dialogue.hub.takeBatch()
    guard case .broadcast(let peers, _)? = dialogue.hub.batchCommitted().first else {
      Issue.record("no message to several")
      return
    }
    #expect(peers == (0..<3).map { PeerID($0) })
  }

  @Test("The server resolves server values; incrementing a non-number starts from zero")
  func serverValues() throws {
    var dialogue = try Dialogue(#"{"n":1,"s":"x","o":{"a":1},"b":true}"#)
    _ = dialogue.ask(
      1,
      "m",
      #"{"p":"/","d":{"n":{".sv":{"increment":2}},"s":{".sv":{"increment":5}},"#
        + #""o":{".sv":{"increment":7}},"q":{".sv":{"increment":0.5}},"b":{".sv":{"increment":1}},"#
        + #""t":{"x":{".sv":"timestamp"},"y":{".sv":"timestamp"}}}}"#
    )
    #expect(
      dialogue.ask(2, "g", #"{"p":"/","q":{}}"#) == [
        response(
          2,
          "ok",
          #"{"n":3,"s":5,"o":7,"q":0.5,"b":1,"t":{"x":1700000001234,"y":1700000001234}}"#
        )
      ]
    )
  }

  @Test("An unknown kind of server value is refused")
  func unknownServerValue() throws {
    var dialogue = try Dialogue()
    #expect(
      statuses(dialogue.ask(1, "p", #"{"p":"/a","d":{"x":{".sv":"now"}}}"#)) == ["invalid_data"]
    )
    #expect(
      statuses(dialogue.ask(2, "o", #"{"p":"/a","d":{".sv":{"increment":"x"}}}"#)) == [
        "invalid_data"
      ]
    )
  }

  @Test("A failed condition is answered after the fresh data has been pushed")
  func staleCondition() throws {
    var dialogue = try Dialogue(#"{"c":101}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/","h":""}"#)
    let hash = Node.integer(100).hash
    #expect(hash == "5PG1TllwFpsPMPTAduN1cJllS2g=")
    let answer = dialogue.ask(2, "p", #"{"p":"/c","d":101,"h":"\#(hash)"}"#)
    #expect(answer.first == push("d", #"{"p":"c","d":101}"#))
    #expect(statuses(answer) == ["datastale"])
  }

  @Test("A listener gets large data with a stale response only if its condition fails again")
  func staleConditionOfListener() throws {
    let many = (10..<50).map { #""k\#($0)":1"# }.joined(separator: ",")
    var dialogue = try Dialogue(#"{"c":{\#(many)}}"#, peers: 2)
    _ = dialogue.ask(1, "q", #"{"p":"/","h":""}"#)
    _ = dialogue.ask(1, "p", #"{"p":"/c/a","d":2}"#, from: 1)
    let write = #"{"p":"/c","d":101,"h":"\#(Node.integer(100).hash)"}"#
    let first = dialogue.ask(2, "p", write)
    #expect(first.count == 1 && statuses(first) == ["datastale"])
    let second = dialogue.ask(3, "p", write)
    #expect(second.first == push("d", #"{"p":"c","d":{"a":2,\#(many)}}"#))
    #expect(statuses(second) == ["datastale"])
    _ = dialogue.ask(2, "p", #"{"p":"/c/a","d":3}"#, from: 1)
    #expect(dialogue.ask(4, "p", write).count == 1)
  }

  @Test("A matching condition lets the write through, even where no data exists")
  func freshCondition() throws {
    var dialogue = try Dialogue(#"{"c":100,"two":{"a":1,"b":2}}"#)
    #expect(
      dialogue.ask(1, "p", #"{"p":"/c","d":101,"h":"5PG1TllwFpsPMPTAduN1cJllS2g="}"#) == [
        response(1)
      ]
    )
    #expect(dialogue.ask(2, "p", #"{"p":"/new","d":1,"h":""}"#) == [response(2)])
    #expect(
      dialogue.ask(3, "p", #"{"p":"/two","d":3,"h":"AUZnXhNqrfbznYVxcCvNpzpjvTU="}"#) == [
        response(3)
      ]
    )
    #expect(statuses(dialogue.ask(4, "p", #"{"p":"/new","d":2,"h":""}"#)) == ["datastale"])
    #expect(
      dialogue.ask(5, "m", #"{"p":"/","d":{"c":0},"h":"x"}"#).count == 1
    )
  }

  @Test(
    "Illegal keys are refused with a reason",
    arguments: ["a.b", "a$", "a#", "[", "]", "\\u001f", "\\u007f"]
  )
  func illegalKeys(key: String) throws {
    var dialogue = try Dialogue()
    for (id, action) in ["p", "o"].enumerated() {
      let body = #"{"p":"/x","d":{"\#(key)":1}}"#
      #expect(statuses(dialogue.ask(id, action, body)) == ["invalid_data"])
    }
    #expect(statuses(dialogue.ask(3, "p", #"{"p":"/\#(key)/y","d":1}"#)) == ["invalid_data"])
    #expect(statuses(dialogue.ask(4, "q", #"{"p":"/\#(key)","h":""}"#)) == ["invalid_data"])
    #expect(statuses(dialogue.ask(5, "g", #"{"p":"/\#(key)","q":{}}"#)) == ["invalid_data"])
    #expect(dialogue.hub.snapshot == .empty)
  }

  @Test("Data nested 32 keys deep is accepted, 33 refused")
  func depth() throws {
    var dialogue = try Dialogue()
    func nested(_ depth: Int) -> String {
      String(repeating: #"{"k":"#, count: depth) + "1" + String(repeating: "}", count: depth)
    }
    #expect(statuses(dialogue.ask(1, "p", #"{"p":"/","d":\#(nested(32))}"#)) == ["ok"])
    #expect(statuses(dialogue.ask(2, "p", #"{"p":"/","d":\#(nested(33))}"#)) == ["invalid_data"])
    #expect(statuses(dialogue.ask(3, "p", #"{"p":"/x","d":\#(nested(32))}"#)) == ["invalid_data"])
  }
}
