import OfflineTestSupport
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeDatabase

@Suite("The engine with a store")
struct RepoCoreOfflineTests {
  private static let lastTwo = Query(index: .key, limit: Query.Limit(2, side: .last))
  private let lastTwo = Self.lastTwo

  /// A process that has received `/list`, and then its successor.
  private func restarted(_ json: String = #"{"a":1,"b":2,"c":3}"#) throws -> OfflineDriver {
    var driver = OfflineDriver.connected()
    _ = try driver.engine.observe("list", answered: json)
    driver.restart()
    return driver
  }

  /// A process that shows a window of `/list`, and its listener.
  private func showing(
    _ query: Query,
    _ json: String
  ) throws -> (driver: OfflineDriver, listener: ListenerID) {
    var driver = OfflineDriver.connected()
    let listener = driver.engine.observe("list", query)
    try driver.engine.push("list", json, tag: 1)
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    return (driver, listener)
  }

  // MARK: Data

  @Test("After a restart a listener gets the stored data at once, marked as cached")
  func cachedData() throws {
    var driver = try restarted()
    _ = driver.engine.observe("list")
    #expect(driver.values == [#"{"a":1,"b":2,"c":3} cached"#])
  }

  @Test("A listen resumes with the hash of the stored data; an unchanged response raises no event")
  func resumedHash() throws {
    var driver = try restarted()
    _ = driver.engine.observe("list")
    driver.forget()
    driver.engine.connect()
    let node = try Node(json: JSONParser.parse(#"{"a":1,"b":2,"c":3}"#))
    #expect(driver.engine.listens == ["q /list \(node.hash)"])
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    #expect(driver.engine.events.isEmpty)
    try driver.engine.push("list/a", "9")
    #expect(driver.values == [#"{"a":9,"b":2,"c":3} current"#])
  }

  @Test("Large data resumes with a compound hash, and range merges reach the store")
  func resumedRanges() throws {
    let members = (0..<100).map { #""k\#($0)":"\#(String(repeating: "x", count: 40))""# }
    var driver = try restarted("{\(members.joined(separator: ","))}")
    _ = driver.engine.observe("list")
    driver.engine.connect()
    guard case .listen(let listen)? = driver.engine.requests.last?.request
    else { throw Unexpected("nothing was listened to") }
    #expect(listen.compoundHash != nil)
    let range = RangeMerge(
      start: nil,
      end: "k0",
      node: Node.empty.setting(ChildKey("k0"), to: .integer(7))
    )
    driver.engine.receive(.push(.rangeMerge(path: "list", [range], tag: nil)))
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.persist()
    let whole = driver.engine.core.data.sync.serverNode(
      of: ListenTarget(path: "list", query: .all, tag: nil)
    )
    #expect(whole[ChildKey("k0")] == .integer(7))
    #expect(Array(driver.store.model.data.values) == [whole])
  }

  @Test("A location known to be empty is stored as empty")
  func nothing() throws {
    var driver = try restarted("null")
    _ = driver.engine.observe("list")
    #expect(driver.values == ["null cached"])
  }

  @Test("A listen that ends before its response keeps the data already sent")
  func early() throws {
    var driver = OfflineDriver.connected()
    let listener = driver.engine.observe("list")
    try driver.engine.push("list", #"{"a":1}"#)
    driver.engine.feed(.stopObserving(listener))
    driver.restart(observing: "list")
    #expect(driver.values == [#"{"a":1} cached"#])
  }

  @Test("A listen that never received all its data stores nothing")
  func incomplete() throws {
    var driver = OfflineDriver.connected()
    _ = driver.engine.observe("list")
    try driver.engine.push("list/a", "1")
    driver.restart(observing: "list")
    #expect(driver.values.isEmpty)
    driver.persist()
    #expect(driver.store.model.data.isEmpty)
  }

  @Test("Later changes reach the store: deep sets, merges, removals, a leaf replacing children")
  func changes() throws {
    var driver = OfflineDriver.connected()
    _ = try driver.engine.observe("list", answered: #"{"a":{"x":1,".priority":5},"b":2}"#)
    let target = ListenTarget(path: "list", query: .all, tag: nil)
    let steps: [ServerPush] = [
      .data(path: "list/a/y/z", .integer(1), tag: nil),
      .data(path: "list/b/c", .integer(3), tag: nil),
      .merge(path: "list", [Change("a/x", to: .empty), Change("a/w", to: .integer(1))], tag: nil),
      .merge(
        path: "list/a",
        [Change("v", to: .integer(1)), Change("w", to: .empty), Change("y", to: .empty)],
        tag: nil
      ),
      .data(path: "list/b", .string("leaf"), tag: nil),
      .data(path: "list/b/.priority", .integer(4), tag: nil),
      .data(path: "list", .integer(1), tag: nil),
    ]
    for push in steps {
      driver.engine.receive(.push(push))
      driver.persist()
      let known = driver.engine.core.data.sync.serverNode(of: target)
      #expect(Array(driver.store.model.data.values) == [known])
    }
  }

  @Test("A limited query's window is stored as it moves")
  func window() throws {
    var (driver, _) = try showing(lastTwo, #"{"b":2,"c":3}"#)
    try driver.engine.push("list/d", "4", tag: 1)
    driver.restart()
    #expect(driver.store.model.data.values.map { $0.json(.export).text } == [#"{"c":3,"d":4}"#])
    _ = driver.engine.observe("list", lastTwo)
    #expect(driver.values == [#"{"c":3,"d":4} cached"#])
    driver.engine.connect()
    let node = try Node(json: JSONParser.parse(#"{"c":3,"d":4}"#))
    let id = lastTwo.id
    #expect(driver.engine.listens == ["q /list \(id) 1 \(node.hash)"])
  }

  @Test("A page in key order neither reads nor hashes what other pages of its list have")
  func otherPages() throws {
    var (driver, _) = try showing(lastTwo, #"{"c":3,"d":4}"#)
    driver.restart()
    driver.engine.connect()
    _ = driver.engine.observe("list", lastTwo)
    var page = lastTwo
    page.end = QueryBound(.string("c"), isInclusive: false)
    driver.persist()
    let reads = driver.store.reads
    _ = driver.engine.observe("list", page)
    #expect(driver.store.reads == reads)
    #expect(driver.engine.listens.last == "q /list \(page.id) 2 \(Node.empty.hash)")
  }

  @Test("A page shows what other pages have of it")
  func overlappingPages() throws {
    var (driver, _) = try showing(lastTwo, #"{"c":3,"d":4}"#)
    driver.restart()
    driver.engine.connect()
    var page = lastTwo
    page.end = QueryBound(.string("c"))
    _ = driver.engine.observe("list", page, [.childAdded])
    #expect(driver.engine.events.count == 1)
  }

  @Test("A pending write deep in a child outside a stored window does not show that child")
  func windowUnderWrites() throws {
    var (driver, _) = try showing(lastTwo, #"{"b":{"n":2},"c":{"n":3}}"#)
    driver.engine.lose()
    try driver.engine.set("list/z/n", "1")
    driver.restart(observing: "list", lastTwo)
    #expect(driver.values == [#"{"b":{"n":2},"c":{"n":3}} cached"#])
  }

  @Test("A selection whose leaf is gone is not stored as that leaf")
  func leafInWindow() throws {
    var (driver, _) = try showing(lastTwo, #"{"a":1}"#)
    try driver.engine.push("list", "7")
    driver.engine.receive(.push(.merge(path: "list", [Change("a", to: .empty)], tag: 1)))
    driver.persist()
    let target = ListenTarget(path: "list", query: lastTwo, tag: 1)
    let known = driver.engine.core.data.sync.serverNode(of: target)
    #expect(known.leafValue == nil)
    #expect(Array(driver.store.model.data.values) == [known])
  }

  @Test("A child that an accepted write moves out of a stored range is removed from the store")
  func outOfRange() throws {
    let large = Query(index: .value, start: QueryBound(.integer(4)))
    let shown = try showing(large, #"{"a":5,"b":6}"#)
    var driver = shown.driver
    driver.engine.feed(.stopObserving(shown.listener))
    driver.forget()
    try driver.engine.set("list/a", "1")
    for (id, _) in driver.engine.sentWrites { driver.engine.answer(id) }
    driver.forget()
    _ = driver.engine.observe("list", large)
    #expect(driver.values == [#"{"b":6} cached"#])
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.persist()
    let stored = driver.store.model.data.values.map { $0.json(.export).text }
    // The written child is stored separately.
    #expect(stored.sorted() == ["1", #"{"b":6}"#])
  }

  @Test("A location's stored data also serves its children and its queries")
  func above() throws {
    var driver = try restarted(#"{"a":{"n":1},"b":2,"c":3}"#)
    _ = driver.engine.observe("list/a")
    _ = driver.engine.observe("list", lastTwo)
    #expect(driver.values == [#"{"n":1} cached"#, #"{"b":2,"c":3} cached"#])
  }

  @Test("An observer above that has no data yet does not hide stored data")
  func belowIncomplete() throws {
    var driver = try restarted(#"{"a":{"n":1},"b":2,"c":3}"#)
    _ = driver.engine.observe(.root)
    _ = driver.engine.observe("list")
    _ = driver.engine.observe("list/a")
    _ = driver.engine.observe("list", lastTwo)
    #expect(
      driver.values == [
        #"{"a":{"n":1},"b":2,"c":3} cached"#, #"{"n":1} cached"#, #"{"b":2,"c":3} cached"#,
      ]
    )
    driver.engine.connect()
    let request = try #require(driver.engine.requests.last)
    driver.forget()
    try driver.engine.push(.root, #"{"list":{"a":{"n":5},"c":3}}"#)
    driver.engine.answer(request.id)
    #expect(
      Set(driver.values) == [
        #"{"list":{"a":{"n":5},"c":3}} current"#, #"{"a":{"n":5},"c":3} current"#,
        #"{"n":5} current"#,
      ]
    )
  }

  @Test("Stored data below an observer is removed when its listen turns out empty")
  func belowNothing() throws {
    var driver = OfflineDriver.connected()
    _ = try driver.engine.observe("deep/list", answered: "1")
    driver.restart(observing: .root)
    _ = driver.engine.observe("deep/list")
    #expect(driver.values == ["1 cached"])
    driver.engine.connect()
    let request = try #require(driver.engine.requests.last)
    driver.forget()
    driver.engine.answer(request.id)
    #expect(Set(driver.values) == ["null current"])
  }

  @Test("A child observer gets individually stored children but no value event")
  func storedChildren() throws {
    var driver = OfflineDriver.connected()
    for (path, json) in [("list/a", "1"), ("list/b/x", "2"), ("list/c", #"{"y":3}"#)] {
      let listener = try driver.engine.observe(Path(wire: path), answered: json)
      driver.engine.feed(.stopObserving(listener))
    }
    driver.persist()
    let window = driver.engine.observe("list", lastTwo)
    try driver.engine.push("list", #"{"c":{"y":4},"d":5}"#, tag: 1)
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.engine.feed(.stopObserving(window))
    driver.restart(observing: "list")
    let added = ["added a after - 1", #"added c after a {"y":4}"#, "added d after c 5"]
    #expect(driver.engine.events == added)
    driver.engine.connect()
    driver.forget()
    try driver.engine.push("list", #"{"a":1,"d":6}"#)
    #expect(
      driver.engine.events == [
        #"removed c {"y":4}"#, "changed d after a 6", #"value {"a":1,"d":6}"#,
      ]
    )
  }

  @Test("An accepted write or removal is stored even if nobody listens")
  func acknowledgedAlone() throws {
    var driver = OfflineDriver.connected()
    try driver.engine.set("drafts/a", #"{"x":1}"#)
    try driver.engine.set("drafts/b", "null")
    try driver.engine.set("refused", "1")
    let ids = driver.engine.sentWrites.map(\.id)
    for id in ids.dropLast() { driver.engine.answer(id) }
    driver.engine.answer(ids[2], .permissionDenied)
    driver.restart(observing: "refused")
    #expect(driver.values.isEmpty)
    _ = driver.engine.observe("drafts/a")
    _ = driver.engine.observe("drafts/b")
    #expect(driver.values == [#"{"x":1} cached"#, "null cached"])
  }

  @Test("Newer data of a location replaces the stored data of its parts")
  func newerWhole() throws {
    var driver = OfflineDriver.connected()
    let part = try driver.engine.observe("list/a", answered: "1")
    driver.engine.feed(.stopObserving(part))
    try driver.engine.set("list/b", "1")
    driver.engine.answer(try #require(driver.engine.sentWrites.last).id)
    let whole = try driver.engine.observe("list", answered: #"{"a":2,"b":2}"#)
    driver.engine.feed(.stopObserving(whole))
    driver.restart(observing: "list/a")
    _ = driver.engine.observe("list/b")
    #expect(driver.values == ["2 cached", "2 cached"])
    driver.persist()
    #expect(driver.store.model.queries.values.contains { $0.path == "list" })
  }

  /// A process that has received `/list` and then `/list/c`, and its successor.
  private func restartedWithPart() throws -> OfflineDriver {
    var driver = try restarted(#"{"a":1,"c":{"n":1}}"#)
    driver.engine.connect()
    _ = try driver.engine.observe("list/c", answered: #"{"n":1}"#)
    driver.restart()
    return driver
  }

  @Test("Changes of a location that was confirmed by its hash replace stored parts")
  func newerConfirmedWhole() throws {
    var driver = try restarted(#"{"a":1,"c":{"n":1}}"#)
    driver.engine.connect()
    _ = try driver.engine.observe("list/c", answered: #"{"n":1}"#)
    _ = driver.engine.observe("list", lastTwo)
    try driver.engine.push("list", #"{"a":1,"c":{"n":1}}"#, tag: 1)
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.restart()
    driver.engine.connect()
    _ = driver.engine.observe("list")
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    try driver.engine.push("list/c/n", "2")
    driver.restart(observing: "list/c")
    _ = driver.engine.observe("list", lastTwo)
    #expect(driver.values == [#"{"n":2} cached"#, #"{"a":1,"c":{"n":2}} cached"#])
  }

  @Test("A part that the previous process kept synced does not age below a newer location")
  func newerThanKept() throws {
    var driver = OfflineDriver.connected()
    driver.engine.feed(.keepSynced(path: "list/c", query: .all, true))
    try driver.engine.push("list/c", #"{"n":1}"#)
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.restart { $0.offlineBytes = 0 }
    driver.engine.connect()
    let listener = try driver.engine.observe("list", answered: #"{"a":1,"c":{"n":1}}"#)
    try driver.engine.push("list/c/n", "3")
    driver.engine.feed(.stopObserving(listener))
    driver.engine.feed(.storeSize(1))
    driver.restart(observing: "list/c")
    #expect(driver.values == [#"{"n":3} cached"#])
  }

  @Test("A newer part, selection or read updates the stored data of its location")
  func newerPart() throws {
    var driver = try restartedWithPart()
    driver.engine.connect()
    let part = driver.engine.observe("list/c")
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    try driver.engine.push("list/c/n", "2")
    driver.engine.feed(.stopObserving(part))
    let selection = driver.engine.observe("list", lastTwo)
    try driver.engine.push("list", #"{"a":2,"c":{"n":2}}"#, tag: 1)
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    try driver.engine.push("list/c/n", "3", tag: 1)
    driver.engine.feed(.stopObserving(selection))
    driver.engine.feed(.get(driver.engine.token(), path: "list/a", query: .all))
    let read = try #require(driver.engine.requests.last).id
    driver.engine.receive(
      .response(id: read, ServerMessage.Response(.ok, payload: .node(.integer(4))))
    )
    driver.restart(observing: "list/c")
    _ = driver.engine.observe("list")
    #expect(driver.values == [#"{"n":3} cached"#, #"{"a":4,"c":{"n":3}} cached"#])
  }

  @Test("A stored selection shows what listens below its location have brought since")
  func newerThanSelection() throws {
    let shown = try showing(lastTwo, #"{"b":{"n":2},"c":{"m":{"x":1,"y":1},"n":3}}"#)
    var driver = shown.driver
    driver.engine.feed(.stopObserving(shown.listener))
    _ = try driver.engine.observe("list/a", answered: "1")
    _ = try driver.engine.observe("list/b", answered: #"{"n":2}"#)
    _ = try driver.engine.observe("list/c/n", answered: "7")
    _ = driver.engine.observe("list/c/m", lastTwo)
    try driver.engine.push("list/c/m", #"{"x":1,"y":8}"#, tag: 2)
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.restart(observing: "list", lastTwo)
    let changed = #"{"m":{"x":1,"y":8},"n":7}"#
    #expect(driver.values == [#"{"b":{"n":2},"c":\#(changed)} cached"#])
    _ = driver.engine.observe("list/b")
    driver.engine.connect()
    try driver.engine.push("list/b", "null")
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.restart(observing: "list", lastTwo)
    #expect(driver.values == [#"{"c":\#(changed)} cached"#])
  }

  @Test("Children from a stored selection are as listens below them have brought them since")
  func newerThanChildren() throws {
    let shown = try showing(lastTwo, #"{"b":1,"c":{"m":1,"n":1}}"#)
    var driver = shown.driver
    driver.engine.feed(.stopObserving(shown.listener))
    _ = try driver.engine.observe("list/c/n", answered: "7")
    driver.restart(observing: "list")
    #expect(driver.engine.events == ["added b after - 1", #"added c after b {"m":1,"n":7}"#])
  }

  @Test("The answer to a write does not undo newer data that a listen has brought")
  func lateAnswer() throws {
    var driver = try restarted(#"{"a":1,"c":2}"#)
    try driver.engine.set("list/c", "7")
    driver.restart(observing: "list/c")
    driver.engine.connect([.writeOnce])
    let listen = try #require(driver.engine.requests.first { $0.request.isListen })
    // The server had applied the write before, and others have written since.
    try driver.engine.push("list/c", "3")
    driver.engine.answer(listen.id)
    driver.engine.answer(try #require(driver.engine.sentWrites.last).id)
    driver.restart(observing: "list")
    #expect(driver.values == [#"{"a":1,"c":3} cached"#])
  }

  @Test("The answer to a write does not undo newer data of a selection")
  func lateAnswerToSelection() throws {
    var driver = try showing(lastTwo, #"{"a":1,"c":2}"#).driver
    try driver.engine.set("list/c", "7")
    driver.restart(observing: "list", lastTwo)
    driver.engine.connect([.writeOnce])
    let listen = try #require(driver.engine.requests.first { $0.request.isListen })
    try driver.engine.push("list", #"{"a":1,"c":3}"#, tag: 1)
    driver.engine.answer(listen.id)
    driver.engine.answer(try #require(driver.engine.sentWrites.last).id)
    driver.restart(observing: "list/c")
    _ = driver.engine.observe("list", lastTwo)
    #expect(driver.values == ["3 cached", #"{"a":1,"c":3} cached"#])
  }

  /// Shows a window of `/list`, writes all of it, and has the next process observe.
  private func rewritten(observing path: Path, _ query: Query) throws -> OfflineDriver {
    var driver = try showing(lastTwo, #"{"a":1,"c":2}"#).driver
    try driver.engine.set("list", #"{"a":1,"b":4,"c":7,"d":8}"#)
    driver.restart(observing: path, query)
    driver.engine.connect([.writeOnce])
    return driver
  }

  @Test(
    "The answer to a write does not undo newer data of a selection at its location",
    arguments: [
      // The server had applied the write before; others have written since.
      (Self.lastTwo, #"{"b":4,"c":3}"#, #"{"a":1,"b":4,"c":3}"#),
      (Self.lastTwo, #"{"d":9}"#, #"{"d":9}"#),
      (Self.lastTwo, #"{"c":3,"e":1}"#, #"{"a":1,"b":4,"c":3,"e":1}"#),
      (Self.lastTwo, "null", "null"),
      // What became of d is not known.
      (
        Query(index: .value, start: QueryBound(.integer(4))), #"{"b":5,"c":7}"#,
        #"{"a":1,"b":5,"c":7,"d":8}"#
      ),
    ]
  )
  func lateAnswerAbove(query: Query, selected: String, stored: String) throws {
    var driver = try rewritten(observing: "list", query)
    let listen = try #require(driver.engine.requests.first { $0.request.isListen })
    try driver.engine.push("list", selected, tag: 1)
    driver.engine.answer(listen.id)
    driver.engine.answer(try #require(driver.engine.sentWrites.last).id)
    driver.restart(observing: "list")
    #expect(driver.values == ["\(stored) cached"])
  }

  @Test("The answer to a write does not undo newer data of a part of it")
  func lateAnswerToPart() throws {
    var driver = try rewritten(observing: "list/c", .all)
    let listen = try #require(driver.engine.requests.first { $0.request.isListen })
    try driver.engine.push("list/c", "3")
    driver.engine.answer(listen.id)
    driver.engine.answer(try #require(driver.engine.sentWrites.last).id)
    driver.restart(observing: "list")
    #expect(driver.values == [#"{"a":1,"b":4,"c":3,"d":8} cached"#])
  }

  @Test("Observers below a location that is confirmed by its hash see the confirmed data")
  func contradiction() throws {
    var driver = try restartedWithPart()
    // As in files of earlier versions.
    for (id, query) in driver.store.model.queries where query.path == "list" {
      driver.store.perform([.update(query: id, Change("c/n", to: .integer(2)))])
    }
    driver.restart(observing: "list/c")
    _ = driver.engine.observe("list")
    driver.engine.connect()
    let request = try #require(driver.engine.requests.last)
    driver.forget()
    driver.engine.answer(request.id)
    #expect(driver.values == [#"{"n":2} current"#])
    driver.engine.feed(.get(driver.engine.token(), path: "list/c", query: .all))
    #expect(driver.reads == [#"{"n":2} current"#])
    driver.restart(observing: "list/c")
    #expect(driver.values == [#"{"n":2} cached"#])
  }

  @Test("A denied listen leaves nothing on disk")
  func refused() throws {
    var driver = try restarted()
    _ = driver.engine.observe("list")
    driver.engine.connect()
    driver.engine.answer(try #require(driver.engine.requests.last).id, .permissionDenied)
    driver.restart(observing: "list")
    #expect(driver.values.isEmpty)
  }

  @Test("A denied read leaves nothing on disk")
  func refusedRead() throws {
    var driver = try restarted()
    driver.engine.connect()
    driver.engine.feed(.get(driver.engine.token(), path: "list", query: .all))
    driver.engine.answer(try #require(driver.engine.requests.last).id, .permissionDenied)
    driver.restart(observing: "list")
    #expect(driver.values.isEmpty)
  }

  @Test("An accepted write changes stored data without a listener")
  func acknowledged() throws {
    var driver = try restarted(#"{"a":{"n":1},"b":2}"#)
    driver.engine.connect()
    try driver.engine.set("list/a/n", "7")
    try driver.engine.set("list/b", "null")
    for (id, _) in driver.engine.sentWrites { driver.engine.answer(id) }
    driver.restart(observing: "list")
    #expect(driver.values == [#"{"a":{"n":7}} cached"#])
  }

  @Test("A write at the end of the connection changes stored data without a listener")
  func disconnected() throws {
    var driver = try restarted(#"{"a":1,"b":2}"#)
    driver.engine.connect()
    let token = driver.engine.token()
    driver.engine.feed(.onDisconnect(token, path: "list/a", .set(.empty)))
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.engine.lose()
    driver.restart(observing: "list")
    #expect(driver.values == [#"{"b":2} cached"#])
  }

  @Test("An accepted write changes a stored window only for children it contains")
  func acknowledgedInWindow() throws {
    let shown = try showing(lastTwo, #"{"b":{"n":2},"c":{"n":3}}"#)
    var driver = shown.driver
    driver.engine.feed(.stopObserving(shown.listener))
    driver.forget()
    try driver.engine.set("list/c/n", "7")
    try driver.engine.set("list/x/n", "7")
    for (id, _) in driver.engine.sentWrites { driver.engine.answer(id) }
    driver.restart(observing: "list", lastTwo)
    #expect(driver.values.last == #"{"b":{"n":2},"c":{"n":7}} cached"#)
  }

  // MARK: Writes

  @Test("Stored writes are shown, sent first in order under their old keys, then deleted")
  func writes() throws {
    var driver = try restarted()
    try driver.engine.set("list/a", "10")
    try driver.engine.set("list/d", "11")
    driver.restart(observing: "list")
    #expect(driver.values == [#"{"a":10,"b":2,"c":3,"d":11} cached pending"#])
    try driver.engine.set("list/e", "12")
    driver.engine.connect([.writeOnce])
    let sent = driver.engine.sentWrites
    #expect(sent.map(\.write.path) == ["list/a", "list/d", "list/e"])
    let keys = sent.compactMap(\.write.key?.wireText)
    #expect(keys == ["~p2:1", "~p2:2", "~p3:3"])
    for (id, _) in sent { driver.engine.answer(id) }
    driver.persist()
    #expect(driver.store.model.writes.isEmpty)
    #expect(driver.engine.completions == ["write 2 ok"])
  }

  @Test("n offline increments survive a restart and add n, before and after they are sent")
  func increments() throws {
    var driver = OfflineDriver.connected()
    _ = try driver.engine.observe("n", answered: "5")
    driver.engine.lose()
    driver.restart()
    for _ in 0..<3 { try driver.engine.set("n", #"{".sv":{"increment":1}}"#) }
    driver.restart(observing: "n")
    #expect(driver.values == ["8 cached pending"])
    driver.engine.connect()
    let operations = driver.engine.sentWrites.map(\.write.operation)
    let increment = WriteOperation.set(.leaf(.deferred(.incrementInteger(1))))
    #expect(operations == [increment, increment, increment])
  }

  @Test("Merges survive a restart unchanged")
  func merges() throws {
    var driver = OfflineDriver()
    let changes = [Change("a/b", to: .integer(1)), Change("c", to: .empty)]
    let token = driver.engine.token()
    driver.engine.feed(.write(token, path: "list", .merge(changes)))
    driver.restart()
    driver.engine.connect()
    #expect(driver.engine.sentWrites.map(\.write.operation) == [.merge(changes)])
  }

  @Test("Purging also reverts stored writes")
  func purge() throws {
    var driver = try restarted()
    try driver.engine.set("list/a", "10")
    driver.restart(observing: "list")
    driver.forget()
    driver.engine.feed(.purgeOutstandingWrites)
    driver.persist()
    #expect(driver.values == [#"{"a":1,"b":2,"c":3} cached"#])
    #expect(driver.store.model.writes.isEmpty)
    #expect(driver.engine.core.pendingWriteCount == 0)
  }

  @Test("A denied stored write is reverted and deleted")
  func refusedWrite() throws {
    var driver = try restarted()
    try driver.engine.set("list/a", "10")
    driver.restart(observing: "list")
    driver.engine.connect()
    driver.forget()
    driver.engine.answer(driver.engine.core.connection.requests.keys.max() ?? 0, .permissionDenied)
    driver.persist()
    #expect(driver.values == [#"{"a":1,"b":2,"c":3} cached"#])
    #expect(driver.store.model.writes.isEmpty)
  }

  @Test("An ephemeral write is neither stored nor sent on a later connection")
  func ephemeral() throws {
    var driver = OfflineDriver { $0.ephemeral = ["here"] }
    driver.engine.connect()
    _ = try driver.engine.observe("here", answered: "null")
    try driver.engine.set("here/alice", "1")
    try driver.engine.set("list/a", "2")
    driver.persist()
    #expect(driver.store.model.writes.values.map(\.path) == ["list/a"])
    driver.engine.lose()
    try driver.engine.set("here/alice", "3")
    #expect(driver.engine.completions == ["write 2 disconnect", "write 4 disconnect"])
    #expect(driver.values.last?.hasPrefix("null") == true)
    driver.forget()
    driver.engine.connect()
    #expect(driver.engine.sentWrites.map(\.write.path) == ["list/a"])
  }

  @Test("Transactions and onDisconnect operations are not stored")
  func notKept() throws {
    var driver = OfflineDriver()
    driver.engine.transact("n") { _ in .commit(.integer(1)) }
    let token = driver.engine.token()
    driver.engine.feed(.onDisconnect(token, path: "n", .set(.integer(2))))
    driver.persist()
    #expect(driver.store.model.writes.isEmpty)
  }

  // MARK: Pruning

  @Test("A store over its size limit evicts the least recently used data, never data in use")
  func pruning() throws {
    var driver = OfflineDriver { $0.offlineBytes = 1_000 }
    driver.engine.connect()
    var listeners: [ListenerID] = []
    for number in 0..<10 {
      driver.engine.time.wall += 1
      listeners.append(try driver.engine.observe(Path(wire: "q\(number)"), answered: "1"))
    }
    for listener in listeners.dropFirst() {
      driver.engine.time.wall += 1
      driver.engine.feed(.stopObserving(listener))
    }
    driver.engine.feed(.keepSynced(path: "q1", query: .all, true))
    driver.engine.feed(.storeSize(1_000))
    driver.persist()
    #expect(driver.store.model.queries.count == 10)
    driver.engine.feed(.storeSize(1_001))
    driver.persist()
    let paths = Set(driver.store.model.queries.values.map(\.path.description))
    #expect(paths == Set(["/q0", "/q1", "/q4", "/q5", "/q6", "/q7", "/q8", "/q9"]))
    for _ in 0..<20 { driver.engine.feed(.storeSize(1_001)) }
    driver.persist()
    #expect(Set(driver.store.model.queries.values.map(\.path.description)) == ["/q0", "/q1"])
  }

  // Differs: Data that is kept synced
  @Test("Data kept synced is not pruned by the next process, but by the one after")
  func keptSynced() throws {
    var driver = OfflineDriver.connected()
    driver.engine.feed(.keepSynced(path: "list", query: .all, true))
    try driver.engine.push("list", "1")
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.restart { $0.offlineBytes = 0 }
    driver.engine.feed(.storeSize(1))
    driver.persist()
    #expect(driver.store.model.data.values.map { $0 } == [.integer(1)])
    driver.restart { $0.offlineBytes = 0 }
    driver.engine.feed(.storeSize(1))
    driver.persist()
    #expect(driver.store.model.data.isEmpty)
  }

  @Test("Data that the previous process kept synced is pruned once this one does not keep it")
  func noLongerKeptSynced() throws {
    var driver = OfflineDriver.connected()
    driver.engine.feed(.keepSynced(path: "list", query: .all, true))
    try driver.engine.push("list", "1")
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.restart { $0.offlineBytes = 0 }
    driver.engine.feed(.keepSynced(path: "list", query: .all, false))
    driver.engine.feed(.storeSize(1))
    driver.persist()
    #expect(driver.store.model.data.isEmpty)
  }

  @Test("Data that is kept synced in two orders is still kept without one of them")
  func keptInTwoOrders() throws {
    var driver = OfflineDriver.connected()
    let ordered = Query(index: .value)
    for query in [ordered, Query.all] {
      driver.engine.feed(.keepSynced(path: "list", query: query, true))
    }
    try driver.engine.push("list", "1")
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    driver.engine.feed(.keepSynced(path: "list", query: ordered, false))
    driver.restart { $0.offlineBytes = 0 }
    driver.engine.feed(.storeSize(1))
    driver.persist()
    #expect(driver.store.model.data.values.map { $0 } == [.integer(1)])
  }

  @Test(
    "Data kept synced below an observed location is not pruned by the next process",
    arguments: [
      "keep observe", "observe keep", "keep observe stop", "observe keep stop",
      "order observe stop",
    ]
  )
  func keptBelowObserved(_ steps: String) throws {
    var driver = OfflineDriver()
    driver.engine.connect()
    var listener: ListenerID?
    for step in steps.split(separator: " ") {
      switch step {
      case "keep": driver.engine.feed(.keepSynced(path: "list/c", query: .all, true))
      case "order":
        let ordered = Query(index: .value)
        driver.engine.feed(.keepSynced(path: "list/c", query: ordered, true))
      case "observe":
        listener = driver.engine.observe("list")
        try driver.engine.push("list", #"{"a":1,"c":2}"#)
      default: driver.engine.feed(.stopObserving(try #require(listener)))
      }
    }
    driver.restart { $0.offlineBytes = 0 }
    for size in 1...10 { driver.engine.feed(.storeSize(Int64(size))) }
    driver.restart()
    _ = driver.engine.observe("list/c")
    #expect(driver.values == ["2 cached"])
  }

  @Test("Queries over the limit are pruned, whatever their size")
  func tooMany() throws {
    var driver = OfflineDriver { $0.offlineQueries = 2 }
    driver.engine.connect()
    for number in 0..<5 {
      let listener = try driver.engine.observe(Path(wire: "q\(number)"), answered: "1")
      driver.engine.feed(.stopObserving(listener))
    }
    driver.engine.feed(.storeSize(1))
    driver.persist()
    #expect(driver.store.model.queries.values.map(\.path).sorted() == ["q3", "q4"])
  }
}

extension ClientRequest {
  fileprivate var isListen: Bool {
    if case .listen = self { true } else { false }
  }
}
