import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("Writes")
struct RepoCoreWriteTests {
  private func node(_ json: String) throws -> Node { try Node(json: JSONParser.parse(json)) }

  @Test("A local set raises events before the server responds")
  func local() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("l", answered: #"{"a":1}"#)
    driver.forget()
    try driver.set("l/b", "2")
    #expect(driver.events == ["added b after a 2", #"value {"a":1,"b":2}"#])
    #expect(driver.completions.isEmpty)
  }

  @Test("Of two pending writes only the denial of the last one shows")
  func refusals() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("v", answered: "0")
    try driver.set("v", "1")
    try driver.set("v", "2")
    driver.forget()
    driver.answer(3, .permissionDenied)
    #expect(driver.values.isEmpty)
    driver.answer(4, .permissionDenied)
    #expect(driver.values == ["0"])
    #expect(driver.completions == ["write 2 permission_denied", "write 3 permission_denied"])
    guard case .writeCompleted? = driver.outputs.last
    else { throw Unexpected("the completion must come after the event") }
  }

  @Test("Offline writes are sent in order after the listens")
  func offlineOrder() throws {
    var driver = CoreDriver()
    _ = driver.observe("l")
    try driver.set("l/a", "1")
    try driver.set("l/b", "2")
    try driver.set("l/c", "3")
    #expect(driver.sentWrites.isEmpty)
    driver.connect()
    let kinds = driver.requests.map(\.request).map { request -> String in
      switch request {
      case .stats: "s"
      case .listen: "q"
      case .write(let write): write.path.wireText
      case .authenticate, .unauthenticate, .appCheck, .unlisten, .get, .onDisconnect,
        .cancelOnDisconnect, .unknown:
        "?"
      }
    }
    #expect(kinds == ["s", "q", "l/a", "l/b", "l/c"])
  }

  @Test("Only unacknowledged writes are sent again")
  func resend() throws {
    var driver = CoreDriver.connected()
    try driver.set("a", "1")
    try driver.set("b", "2")
    driver.answer(driver.sentWrites[0].id)
    driver.lose()
    driver.forget()
    driver.connect()
    #expect(driver.sentWrites.map(\.write.path) == ["b"])
    driver.answer(driver.sentWrites[0].id)
    #expect(driver.completions == ["write 2 ok"])
    #expect(driver.core.pendingWriteCount == 0)
  }

  @Test("A response from a lost connection is ignored")
  func lateAnswer() throws {
    var driver = CoreDriver.connected()
    try driver.set("a", "1")
    let (id, connection) = (driver.sentWrites[0].id, driver.core.connection.current)
    driver.lose()
    driver.connect()
    let old = try #require(connection)
    let late = ServerMessage.response(id: id, ServerMessage.Response(.ok))
    #expect(driver.feed(.message(old, late)).isEmpty)
    #expect(driver.core.pendingWriteCount == 1)
  }

  @Test("The server's time is estimated from the offset in its greeting")
  func timestamp() throws {
    var driver = CoreDriver()
    driver.connect(timestamp: 1_005_000)
    _ = try driver.observe("t", answered: "null")
    driver.time.wall = 1_000_100
    driver.feed(.write(driver.token(), path: "t", .set(.leaf(.deferred(.timestamp)))))
    #expect(driver.core.serverTimeOffset == 5_000)
    #expect(driver.values.last == "1005100")
  }

  @Test("With the write-once extension writes have keys numbered in sending order")
  func keys() throws {
    var driver = CoreDriver()
    try driver.set("a", "1")
    driver.connect()
    try driver.set("b", "2")
    driver.lose()
    driver.forget()
    driver.connect([.writeOnce])
    try driver.set("c", "3")
    let first = driver.sentWrites.map(\.write.key?.number)
    #expect(first == [1, 2, 3])
    driver.lose()
    driver.forget()
    driver.connect([.writeOnce])
    #expect(driver.sentWrites.map(\.write.key?.number) == [1, 2, 3])
    driver.lose()
    driver.forget()
    driver.connect()
    #expect(driver.sentWrites.map(\.write.key) == [nil, nil, nil])
  }

  @Test("A write keeps its key when a user signs in before it is resent")
  func keyOverSignIn() throws {
    var driver = CoreDriver.connected([.writeOnce])
    try driver.set("a", "1")
    driver.lose()
    driver.forget()
    driver.feed(.actAs(user: "ann"))
    try driver.set("b", "2")
    driver.connect([.writeOnce])
    #expect(
      driver.sentWrites.map(\.write.key) == [
        WriteKey(client: WriteKey.bearerName("c1"), number: 1), WriteKey(client: "c1", number: 2),
      ]
    )
  }

  @Test("Purging reverts unacknowledged writes")
  func purge() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("v", answered: "0")
    try driver.set("v", "1")
    try driver.set("v", "2")
    driver.feed(.purgeOutstandingWrites)
    #expect(driver.values.last == "0")
    #expect(driver.completions == ["write 2 write_canceled", "write 3 write_canceled"])
    driver.lose()
    driver.forget()
    driver.connect()
    #expect(driver.sentWrites.isEmpty)
  }

  @Test("Purging several writes shows no intermediate state")
  func purgeAtOnce() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("v", answered: #"{"a":0,"b":0}"#)
    let changes = [Change("a", to: .integer(1)), Change("b", to: .integer(1))]
    driver.feed(.write(driver.token(), path: "v", .merge(changes)))
    try driver.set("v/a", "2")
    try driver.set("v/b", "2")
    driver.forget()
    driver.feed(.purgeOutstandingWrites)
    #expect(driver.values == [#"{"a":0,"b":0}"#])
    #expect(driver.completions.count == 3)
  }

  @Test("An empty update succeeds without traffic")
  func emptyMerge() {
    var driver = CoreDriver.connected()
    driver.feed(.write(driver.token(), path: "a", .merge([])))
    #expect(driver.sentWrites.isEmpty)
    #expect(driver.completions == ["write 1 ok"])
  }

  @Test("Nothing can be written below .info")
  func info() throws {
    var driver = CoreDriver.connected()
    try driver.set(".info/connected", "true")
    driver.transact(".info/x") { .commit($0) }
    #expect(
      driver.completions == [
        "write 1 invalid_data", "transaction 2 invalid_data false null",
      ]
    )
    #expect(driver.sentWrites.isEmpty)
  }

  @Test(
    "A leaf hidden by a deep write shows again once the write is acknowledged",
    arguments: [Path("l"), "l/a"],
    [true, false]
  )
  func leafUnderAcknowledgedWrite(observed: Path, isMerge: Bool) throws {
    var driver = CoreDriver.connected()
    let isParent = observed == "l"
    _ = try driver.observe(observed, answered: isParent ? #"{"a":1,"b":1}"# : "1")
    if isMerge {
      driver.feed(.write(driver.token(), path: "l", .merge([Change("a/k", to: .integer(2))])))
    } else {
      try driver.set("l/a/k", "2")
    }
    // The answer was lost, and another client has written since.
    try driver.push("l/a", "5")
    driver.forget()
    driver.answer(3)
    #expect(driver.values == [isParent ? #"{"a":5,"b":1}"# : "5"])
    #expect(driver.core.cachedValue(at: "l/a", query: .all) == .integer(5))
  }

  @Test("A priority is removed with the server's last child, even if a written child remains")
  func priorityOfWrittenChildren() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("l", answered: #"{"a":{"old":1,".priority":2}}"#)
    try driver.set("l/a/new", "1")
    try driver.push("l/a/old", "null")
    try driver.push("l/a/new", "1")
    driver.answer(3)
    #expect(driver.values.last == #"{"a":{"new":1}}"#)
  }

  @Test("A mixed merge raises its events in order")
  func mixedMerge() throws {
    var driver = CoreDriver.connected()
    _ = try driver.observe("l", answered: #"{"b":1,"c":2}"#)
    driver.forget()
    let merge = #"""
      {"b":null,"d/e":5,"c":{".value":2,".priority":-1},"z":{".value":1,".priority":-2}}
      """#
    driver.receive(
      .push(.merge(path: "l", try Change.changes(json: JSONParser.parse(merge)), tag: nil))
    )
    #expect(
      driver.events.dropLast() == [
        "removed b 1", #"added d after - {"e":5}"#, #"added z after d {".value":1,".priority":-2}"#,
        #"moved c after z {".value":2,".priority":-1}"#,
        #"changed c after z {".value":2,".priority":-1}"#,
      ]
    )
  }

  @Test("An incomplete view shows written children but no value")
  func unfinished() throws {
    var driver = CoreDriver.connected()
    _ = driver.observe("u")
    try driver.set("u/x", "1")
    #expect(driver.events == ["added x after - 1"])
    driver.forget()
    try driver.push("u", #"{"w":0,"x":5,"y":2}"#)
    #expect(
      driver.events == ["added w after - 0", "added y after x 2", #"value {"w":0,"x":1,"y":2}"#]
    )
    driver.answer(2)
    driver.forget()
    driver.answer(3)
    #expect(driver.events == ["changed x after w 5", #"value {"w":0,"x":5,"y":2}"#])
  }
}
