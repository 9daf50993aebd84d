import RealtimeCore
import Testing

@testable import RealtimeDatabase

@Suite("Data metadata")
struct DataMetadataTests {
  private let lastTwo = Query(index: .key, limit: Query.Limit(2, side: .last))

  private func listening(_ json: String = #"{"a":1,"b":2}"#) throws -> OfflineDriver {
    var driver = OfflineDriver.connected()
    _ = try driver.engine.observe("list", answered: json)
    driver.forget()
    return driver
  }

  private func metadata(_ driver: OfflineDriver) -> [String] {
    driver.engine.outputs.compactMap {
      guard case .raise(_, let event) = $0 else { return nil }
      return "\(event.key?.text ?? "value") \(event.metadata.text)"
    }
  }

  @Test("Data received on the current connection is current")
  func current() throws {
    var driver = OfflineDriver.connected()
    _ = try driver.engine.observe("list", answered: #"{"a":1}"#)
    #expect(metadata(driver) == ["a current", "value current"])
  }

  @Test("Empty data is current once the server has confirmed it")
  func currentNothing() throws {
    var driver = OfflineDriver.connected()
    _ = try driver.engine.observe("list", answered: "null")
    #expect(driver.values == ["null current"])
  }

  @Test("Data is cached while offline and after a reconnect until the server responds")
  func offline() throws {
    var driver = try listening()
    driver.engine.lose()
    _ = driver.engine.observe("list", .all, [.value])
    driver.engine.connect()
    _ = driver.engine.observe("list", .all, [.value])
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    _ = driver.engine.observe("list", .all, [.value])
    let data = #"{"a":1,"b":2}"#
    #expect(driver.values == ["\(data) cached", "\(data) cached", "\(data) current"])
  }

  @Test("Everything is current while each listen is answered on this connection")
  func everything() throws {
    var driver = try listening()
    #expect(driver.engine.core.isCurrent)
    _ = driver.engine.observe("other", .all, [.value])
    #expect(!driver.engine.core.isCurrent)
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    #expect(driver.engine.core.isCurrent)
    driver.engine.lose()
    #expect(!driver.engine.core.isCurrent)
    driver.engine.connect()
    #expect(!driver.engine.core.isCurrent)
  }

  @Test("Data sent after a reconnect is current before the listen is answered")
  func resent() throws {
    var driver = try listening()
    driver.engine.lose()
    driver.engine.connect()
    try driver.engine.push("list", #"{"a":7}"#)
    #expect(driver.values == [#"{"a":7} current"#])
  }

  @Test("A write is pending until it is acknowledged, which raises no event of its own")
  func pending() throws {
    var driver = try listening()
    try driver.engine.set("list/a", "5")
    #expect(metadata(driver) == ["a current pending", "value current pending"])
    try driver.engine.push("list/a", "5")
    driver.engine.answer(try #require(driver.engine.sentWrites.last).id)
    driver.forget()
    #expect(metadata(driver).isEmpty)
    _ = driver.engine.observe("list")
    #expect(metadata(driver) == ["a current", "b current", "value current"])
  }

  @Test("A pending write marks its child, its ancestors and its descendants, but no sibling")
  func pendingChild() throws {
    var driver = try listening(#"{"a":{"n":1},"b":{"n":2}}"#)
    try driver.engine.set("list/a/n", "5")
    driver.forget()
    try driver.engine.push("list/b/n", "3")
    #expect(metadata(driver) == ["b current", "value current pending"])
    driver.forget()
    _ = driver.engine.observe("list/a/n", .all, [.value])
    _ = driver.engine.observe("list/b", .all, [.value])
    #expect(driver.values == ["5 current pending", #"{"n":3} current"#])
  }

  @Test("Removing a child is a pending write of the child and of the value")
  func pendingRemoval() throws {
    var driver = try listening()
    try driver.engine.set("list/a", "null")
    #expect(metadata(driver) == ["a current pending", "value current pending"])
  }

  @Test("A pending write outside a query does not mark the query")
  func pendingOutside() throws {
    var driver = OfflineDriver.connected()
    _ = driver.engine.observe("list", lastTwo)
    try driver.engine.push("list", #"{"b":2,"c":3}"#, tag: 1)
    driver.engine.answer(try #require(driver.engine.requests.last).id)
    try driver.engine.set("list/a", "1")
    driver.forget()
    try driver.engine.push("list/b", "5", tag: 1)
    #expect(metadata(driver) == ["b current", "value current"])
    try driver.engine.set("list/d", "1")
    #expect(driver.values.last == #"{"c":3,"d":1} current pending"#)
  }

  @Test("A transaction is a pending write only if it is applied locally")
  func transactions() throws {
    for isShown in [true, false] {
      var driver = try listening("1")
      driver.engine.transact("list", appliesLocally: isShown) { _ in .commit(.integer(2)) }
      driver.forget()
      _ = driver.engine.observe("list", .all, [.value])
      #expect(driver.values == [isShown ? "2 current pending" : "1 current"])
    }
  }

  @Test("The client's own .info data is current")
  func info() {
    var driver = OfflineDriver()
    _ = driver.engine.observe(".info/connected")
    #expect(driver.values == ["false current"])
  }
}
