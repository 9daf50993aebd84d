import RealtimeCore
import Testing

@testable import RealtimeSync

@Suite("RepoCore: ranges of what has changed")
struct RepoCoreRangeTests {
  private static let text = String(repeating: "x", count: 600)

  private static func lastListen(_ driver: CoreDriver) throws -> ListenRequest {
    let listens = driver.requests.compactMap { entry -> ListenRequest? in
      if case .listen(let listen) = entry.request { listen } else { nil }
    }
    return try #require(listens.last)
  }

  private static func change(_ node: String) throws -> ServerMessage {
    let data = try Node(json: JSONParser.parse(node))
    let range = RangeChange(start: "a", end: "b", node: data)
    return .push(.rangeMerge(path: "list", [range], tag: nil))
  }

  @Test("A reconnect with much data tells the hashes of its ranges, and takes what differs")
  func reconnects() throws {
    var driver = CoreDriver()
    driver.connect()
    _ = try driver.observe("list", answered: #"{"a":"\#(Self.text)","b":"\#(Self.text)"}"#)
    driver.lose()
    driver.forget()
    driver.connect()
    let listen = try Self.lastListen(driver)
    let compound = try #require(listen.compoundHash)
    #expect(compound.posts == ["a", "b"])
    driver.forget()
    driver.receive(try Self.change(#"{"b":1}"#))
    let expected = #"value {"a":"\#(Self.text)","b":1}"#
    #expect(driver.events.last == expected)
    #expect(driver.events.count == 2)
  }

  @Test("Little data go without")
  func small() throws {
    var driver = CoreDriver()
    driver.connect()
    _ = try driver.observe("list", answered: #"{"a":1,"b":2}"#)
    driver.lose()
    driver.connect()
    #expect(try Self.lastListen(driver).compoundHash == nil)
  }

  @Test("Ranges for a listen that ended in the meantime are left alone")
  func late() throws {
    var driver = CoreDriver()
    driver.connect()
    let first = try driver.observe("list", answered: #"{"a":"\#(Self.text)","b":"\#(Self.text)"}"#)
    driver.lose()
    driver.connect()
    driver.feed(.stopObserving(first))
    _ = driver.observe("list")
    driver.forget()
    driver.receive(try Self.change(#"{"b":1}"#))
    #expect(driver.events == [])
  }
}
