import RealtimeCore
import Testing

@testable import RealtimeDatabase

/// The cost of a change in a view with very many children.
@Suite("Large views")
struct LargeViewTests {
  private let byStars = Index.child(Path(["stars"]))

  /// An engine that listens to a whole list and to a query of it.
  private func listening(_ query: Query) throws -> CoreDriver {
    var driver = CoreDriver.connected()
    _ = driver.observe("list", .all, [.value])
    let children = (0..<1_000).map {
      #""k\#($0 + 1_000)":{"stars":\#($0 * 2),"title":"post \#($0)"}"#
    }
    try driver.push("list", "{\(children.joined(separator: ","))}")
    driver.answer(try #require(driver.requests.last).id)
    _ = driver.observe("list", query)
    return driver
  }

  /// The address of an order's positions in memory.
  ///
  /// While the order in which they were found exists, another address means that all of them were
  /// copied.
  private func place(of indexed: IndexedNode) throws -> UnsafeRawPointer {
    let mirror = Mirror(reflecting: indexed)
    let order = try #require(mirror.descendant("childOrder", "positions", "some"))
    let chunks = try #require(Mirror(reflecting: order).descendant("chunks") as? [[IndexEntry]])
    return try chunks.withUnsafeBufferPointer { UnsafeRawPointer(try #require($0.baseAddress)) }
  }

  private func places(_ driver: CoreDriver, _ query: Query) throws -> [UnsafeRawPointer] {
    let tree = try #require(
      Mirror(reflecting: driver.core.data.sync).descendant("root") as? SyncPoint
    )
    let point = try #require(tree["list"])
    let view = point.views[try #require(point.viewIndex(of: query))]
    return try [place(of: view.cache.server.indexed), place(of: view.cache.event.indexed)]
  }

  @Test(
    "Changes by the server and by the client update the order in place",
    arguments: [nil, Query.Limit(100, side: .last)]
  )
  func inPlace(limit: Query.Limit?) throws {
    let query = Query(index: byStars, limit: limit)
    var driver = try listening(query)
    // The first change may separate what the two states of the view share.
    try driver.push("list/k1500/stars", "1001")
    let before = try places(driver, query)
    for number in 0..<8 {
      let path = Path(wire: "list/k\(1_500 + number)/stars")
      try driver.push(path, "\(1_003 + 2 * number)")
      #expect(try places(driver, query) == before)
      try driver.set(path, "\(1_005 + 2 * number)")
      #expect(try places(driver, query) == before)
      try driver.push(path, "\(1_005 + 2 * number)")
      #expect(try places(driver, query) == before)
      driver.answer(try #require(driver.sentWrites.last).id)
      #expect(try places(driver, query) == before)
      driver.forget()
    }
  }
}
