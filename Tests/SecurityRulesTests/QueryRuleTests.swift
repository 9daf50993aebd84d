import RealtimeCore
import RealtimeServer
import Testing

@Suite("Rules about queries")
struct QueryRuleTests {
  private func result(_ expression: String, _ query: Query) throws -> ProbeResult {
    try RuleProbe(kind: .read, query: query).result(expression)
  }

  @Test(
    "Without a query the order is by key and there are no bounds",
    arguments: [
      ("query.orderByKey", .yes), ("query.orderByValue", .no), ("query.orderByPriority", .no),
      ("query.orderByChild == null", .yes), ("query.startAt == null", .yes),
      ("query.endAt == null", .yes), ("query.equalTo == null", .yes),
      ("query.limitToFirst == null && query.limitToLast == null", .yes),
      ("query.limitToFirst <= 100", .error), ("query['orderByKey']", .yes),
    ] as [(String, ProbeResult)]
  )
  func none(_ expression: String, _ expected: ProbeResult) throws {
    #expect(try result(expression, .all) == expected)
  }

  @Test(
    "Only the known members exist, and query itself is not a value",
    arguments: [
      "query.foo == 1", "query == null", "query.orderByKey()", "query.exists()", "query[$key] == 1",
      "query.limitToFirst", "query.orderByChild", "query + 1 == 1",
    ]
  )
  func unknown(_ expression: String) throws {
    #expect(try result(expression, .all) == .rejected)
  }

  @Test("Rules see the order and the limits")
  func orderAndLimits() throws {
    let first = Query(limit: Query.Limit(100, side: .first))
    #expect(try result("query.orderByKey && query.limitToFirst <= 100", first) == .yes)
    #expect(try result("query.limitToFirst <= 99", first) == .no)
    #expect(try result("query.limitToLast == null", first) == .yes)
    let last = Query(index: .child("a/b"), limit: Query.Limit(5, side: .last))
    #expect(try result("query.orderByChild == 'a/b' && query.limitToLast == 5", last) == .yes)
    #expect(try result("query.orderByKey", last) == .no)
    #expect(try result("query.orderByValue", Query(index: .value)) == .yes)
  }

  @Test("Rules see the bounds, and a range of one value as that value")
  func bounds() throws {
    let owned = Query(
      index: .child("owner"),
      start: QueryBound(.string("alice")),
      end: QueryBound(.string("alice"))
    )
    #expect(try result("query.orderByChild == 'owner' && query.equalTo == auth.uid", owned) == .yes)
    let range = Query(index: .value, start: QueryBound(.integer(3)), end: QueryBound(.integer(7)))
    #expect(try result("query.startAt >= 3 && query.endAt <= 7", range) == .yes)
    #expect(try result("query.equalTo == null", range) == .yes)
    let afterAlice = Query(
      index: .child("owner"),
      start: QueryBound(.string("alice"), isInclusive: false),
      end: QueryBound(.string("alice"))
    )
    #expect(try result("query.equalTo == null", afterAlice) == .yes)
  }
}
