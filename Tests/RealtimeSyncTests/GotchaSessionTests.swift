import RealtimeCore
import Testing

@testable import RealtimeDatabase

/// The protocol's gotchas that the client engine must handle, by number and letter.
@Suite("Gotchas C, D, E and F: the client engine")
struct GotchaSessionTests {
  private let first1 = Query(limit: Query.Limit(1, side: .first))
  private let last2 = Query(limit: Query.Limit(2, side: .last))

  private func node(_ json: String) throws -> Node { try Node(json: JSONParser.parse(json)) }

  private func add(_ amount: Double) -> Node {
    amount == amount.rounded()
      ? .leaf(.deferred(.incrementInteger(Int64(amount))))
      : .leaf(.deferred(.incrementDouble(amount)))
  }

  // MARK: C. Queries

  @Test("17. An ordered query without bounds or limit is sent as the default listen")
  func orders() {
    var driver = CoreDriver.idle()
    _ = driver.observe("k", Query(index: .child("x")))
    _ = driver.observe("k", Query(index: .value))
    _ = driver.observe("k", Query(index: .key))
    #expect(driver.listens == ["q /k "])
  }

  @Test("17. A default listen starts before a tagged one ends, and vice versa")
  func replacement() throws {
    var driver = CoreDriver.idle()
    _ = driver.observe("k", first1)
    try driver.push("k", #"{"a":1}"#, tag: 1)
    driver.answer(2)
    driver.forget()
    let all = try driver.observe("k", answered: #"{"a":1,"b":2}"#)
    #expect(driver.listens == ["q /k ", #"n /k {"l":1,"vf":"l"} 1"#])
    driver.forget()
    driver.feed(.stopObserving(all))
    let hash = try node(#"{"a":1,"b":2}"#).hash
    #expect(driver.listens == [#"q /k {"l":1,"vf":"l"} 1 \#(hash)"#, "n /k"])
  }

  @Test("18. A window accepts what the server sends and evicts what no longer fits")
  func window() throws {
    var driver = CoreDriver.idle()
    _ = driver.observe("A", last2)
    try driver.push("A", #"{"a":1,"b":2}"#, tag: 1)
    driver.answer(2)
    driver.forget()
    let changes = [Change("c", to: .integer(3)), Change("a", to: .empty)]
    driver.receive(.push(.merge(path: "A", changes, tag: 1)))
    #expect(driver.events == ["removed a 1", "added c after b 3", #"value {"b":2,"c":3}"#])
    driver.forget()
    driver.receive(.push(.merge(path: "A", [Change("d", to: .integer(4))], tag: 1)))
    #expect(driver.events == ["removed b 2", "added d after c 4", #"value {"c":3,"d":4}"#])
    driver.forget()
    try driver.set("A/d", "null")
    #expect(driver.events == ["removed d 4", #"value {"c":3}"#])
    driver.forget()
    let next = [Change("d", to: .empty), Change("b", to: .integer(2))]
    driver.receive(.push(.merge(path: "A", next, tag: 1)))
    #expect(driver.events == ["added b after - 2", #"value {"b":2,"c":3}"#])
  }

  // MARK: D. Messages

  @Test("23. Data before the response raises no events; a response before it shows the old data")
  func answerAndData() throws {
    var driver = CoreDriver.idle()
    _ = try driver.observe("p", answered: #"{"a":1}"#)
    driver.feed(.write(driver.token(), path: "p/a/.priority", .set(.integer(5))))
    driver.forget()
    driver.answer(3)
    #expect(driver.events == ["moved a after - 1", "changed a after - 1", #"value {"a":1}"#])
    try driver.set("p/b", "2")
    driver.forget()
    try driver.push("p/b", "2")
    driver.answer(4)
    #expect(driver.events.isEmpty)
  }

  @Test("25. A second response to a listen and pushes for an ended listen are ignored")
  func lateListens() throws {
    var driver = CoreDriver.idle()
    let listener = try driver.observe("l", answered: "1")
    let id = driver.requests[0].id
    driver.feed(.stopObserving(listener))
    driver.forget()
    driver.answer(id, .permissionDenied)
    try driver.push("l", "2")
    #expect(driver.events.isEmpty && driver.completions.isEmpty)
  }

  @Test("26. A child moves only when its order value changes, even if it stays in place")
  func moves() throws {
    var driver = CoreDriver.idle()
    _ = driver.observe("m", Query(index: .child("n")))
    try driver.push("m", #"{"a":{"n":1},"b":{"n":0},"c":{"n":0}}"#)
    driver.answer(2)
    driver.forget()
    try driver.push("m/a/n", "9")
    #expect(
      driver.events.dropLast() == [#"moved a after c {"n":9}"#, #"changed a after c {"n":9}"#]
    )
    driver.forget()
    try driver.push("m/b/x", "1")
    #expect(driver.events.dropLast() == [#"changed b after - {"n":0,"x":1}"#])
  }

  // MARK: E. Writes and transactions

  @Test("27. Server values are estimated locally, on top of each other, and sent unresolved")
  func serverValues() throws {
    var driver = CoreDriver.idle()
    _ = try driver.observe("i", answered: #"{"n":1,"s":"x","o":{"a":1}}"#)
    driver.forget()
    driver.feed(.write(driver.token(), path: "i", .merge([Change("n", to: add(2))])))
    #expect(driver.values.last == #"{"n":3,"o":{"a":1},"s":"x"}"#)
    driver.feed(.write(driver.token(), path: "i/n", .set(add(3))))
    #expect(driver.values.last == #"{"n":6,"o":{"a":1},"s":"x"}"#)
    let changes = [Change("o", to: add(7)), Change("q", to: add(0.5)), Change("s", to: add(5))]
    driver.feed(.write(driver.token(), path: "i", .merge(changes)))
    #expect(driver.values.last == #"{"n":6,"o":7,"q":0.5,"s":5}"#)
    #expect(
      driver.sentWrites.map(\.write.operation) == [
        .merge([Change("n", to: add(2))]), .set(add(3)), .merge(changes),
      ]
    )
  }

  @Test("27. onDisconnect values are sent unresolved and resolved when the connection ends")
  func scheduledValues() throws {
    var driver = CoreDriver.idle()
    _ = try driver.observe("o", answered: "1")
    driver.feed(.onDisconnect(driver.token(), path: "o", .set(add(4))))
    #expect(driver.requests.last?.request == .onDisconnect(path: "o", .set(add(4))))
    driver.answer(driver.requests.last?.id ?? 0)
    try driver.push("o", "10")
    driver.lose()
    #expect(driver.values.last == "14")
  }

  @Test("28. A transaction's hash includes other pending writes but not its own")
  func hashes() throws {
    var driver = CoreDriver.idle()
    _ = try driver.observe("c", answered: "100")
    driver.transact("c") { _ in .commit(.integer(101)) }
    #expect(driver.sentWrites[0].write.hash == "5PG1TllwFpsPMPTAduN1cJllS2g=")
    driver.transact("empty") { _ in .commit(.integer(1)) }
    #expect(driver.sentWrites[1].write.hash?.isEmpty == true)
    try driver.set("other", "101")
    driver.transact("other") { _ in .commit(.integer(102)) }
    #expect(driver.sentWrites[3].write.hash == "kD0WC1dhA4d9tF2LqEBSwg8x4BY=")
  }

  @Test("28. Nested transactions are sent as one write at the parent, with the parent's hash")
  func nested() throws {
    var driver = CoreDriver.idle()
    _ = try driver.observe("n", answered: #"{"a":1,"b":2}"#)
    driver.feed(.goOffline(.user))
    driver.transact("n/b") { _ in .commit(.integer(3)) }
    driver.transact("n/a") { _ in .commit(.integer(2)) }
    driver.transact("n") { .commit($0.setting(ChildKey("x"), to: .bool(true))) }
    driver.connect()
    for write in driver.sentWrites { driver.answer(write.id, .dataStale) }
    let joint = try #require(driver.sentWrites.last)
    #expect(joint.write.path == "n")
    #expect(joint.write.hash == "AUZnXhNqrfbznYVxcCvNpzpjvTU=")
    #expect(joint.write.operation == .set(try node(#"{"a":2,"b":3,"x":true}"#)))
  }

  // MARK: F. Smaller traps

  @Test("F. A location that turns out to be empty clears older data of an observer below")
  func emptyPlaceAbove() throws {
    var driver = CoreDriver.idle()
    _ = driver.observe("l/a/b")
    let first = try #require(driver.requests.last).id
    _ = driver.observe("l")
    try driver.push("l/a/b", "1")
    driver.answer(first)
    driver.lose()
    driver.forget()
    // Another client has removed everything in the meantime.
    driver.connect()
    #expect(driver.listens == ["q /l "])
    driver.answer(try #require(driver.requests.last).id)
    #expect(driver.values == ["null", "null"])
    #expect(driver.core.cachedValue(at: "l/a/b", query: .all) == .empty)
  }

  @Test("F. The keys of a merge may be paths, also of priorities; an empty merge is harmless")
  func merges() throws {
    var driver = CoreDriver.idle()
    _ = try driver.observe("m", answered: #"{"a":{"b":1},"c":2}"#)
    driver.forget()
    driver.receive(.push(.merge(path: "m", [], tag: nil)))
    #expect(driver.events.isEmpty)
    let changes = [Change("a/b", to: .integer(5)), Change("c/.priority", to: .integer(1))]
    driver.receive(.push(.merge(path: "m", changes, tag: nil)))
    #expect(driver.values == [#"{"a":{"b":5},"c":{".value":2,".priority":1}}"#])
  }
}
