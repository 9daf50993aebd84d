import RealtimeCore
import Testing

@Suite("Queries as JSON")
struct QueryJSONTests {
  static let samples: [(Query, String)] = [
    (.all, "{}"),
    (Query(limit: Query.Limit(2, side: .last)), #"{"l":2,"vf":"r"}"#),
    (
      Query(
        index: .child("age/n"),
        start: QueryBound(.integer(18)),
        end: QueryBound(.integer(30), key: .key("zz"), isInclusive: false),
        limit: Query.Limit(2, side: .last)
      ),
      #"{"sp":18,"sin":true,"ep":30,"en":"zz","ein":false,"l":2,"vf":"r","i":"age/n"}"#
    ),
    (
      Query(
        index: .key,
        start: QueryBound(.string("abc"), isInclusive: false),
        limit: Query.Limit(3, side: .first)
      ),
      #"{"sp":"abc","sin":false,"l":3,"vf":"l","i":".key"}"#
    ),
    (
      Query(index: .value, start: QueryBound(.integer(5), key: .maximum, isInclusive: false)),
      #"{"sp":5,"sn":"[MAX_NAME]","sin":false,"i":".value"}"#
    ),
    (
      Query(index: .child("v"), end: QueryBound(.integer(0), key: .minimum, isInclusive: false)),
      #"{"ep":0,"en":"[MIN_NAME]","ein":false,"i":"v"}"#
    ),
    (
      Query(index: .child("z"), start: QueryBound(nil), end: QueryBound(nil)),
      #"{"sp":null,"sin":true,"ep":null,"ein":true,"i":"z"}"#
    ),
    (
      Query(
        index: .child("v"),
        start: QueryBound(.integer(0), key: .key("f")),
        end: QueryBound(.integer(0), key: .key("f"))
      ),
      #"{"sp":0,"sn":"f","sin":true,"ep":0,"en":"f","ein":true,"i":"v"}"#
    ),
    (Query(start: QueryBound(.string("A"))), #"{"sp":"A","sin":true}"#),
    (Query(start: QueryBound(.bool(false))), #"{"sp":false,"sin":true}"#),
  ]

  @Test("are encoded as official clients encode them and round-trip", arguments: samples)
  func wire(query: Query, text: String) throws {
    #expect(query.json.text == text)
    #expect(try Query(json: JSONParser.parse(text)) == query)
  }

  @Test("are inclusive by default")
  func inclusive() throws {
    let query = try Query(json: JSONParser.parse(#"{"sp":1,"ep":2}"#))
    #expect(query.start?.isInclusive == true)
    #expect(query.end?.isInclusive == true)
  }

  @Test("have a bound if the member is null and none if it is missing")
  func presence() throws {
    #expect(try Query(json: JSONParser.parse(#"{"sp":null}"#)).start != nil)
    #expect(try Query(json: JSONParser.parse("{}")).start == nil)
    #expect(try Query(json: .null) == .all)
  }

  @Test(
    "are rejected if a member is invalid",
    arguments: [
      "[]", "5", #""x""#, #"{"l":0,"vf":"l"}"#, #"{"l":-1}"#, #"{"l":1.5}"#, #"{"l":"2"}"#,
      #"{"l":1,"vf":"x"}"#, #"{"l":4294967296}"#, #"{"i":5}"#, #"{"sp":{"a":1}}"#, #"{"sp":[1]}"#,
      #"{"sp":[]}"#, #"{"ep":{}}"#, #"{"sp":{".sv":"timestamp"}}"#, #"{"sp":1,"sn":5}"#,
      #"{"ep":1,"en":{}}"#,
    ]
  )
  func refusal(text: String) {
    #expect(throws: NodeError.self) { try Query(json: JSONParser.parse(text)) }
  }

  @Test("are identified by their sorted text")
  func id() throws {
    #expect(Query.all.id == "default")
    #expect(Query(limit: Query.Limit(2, side: .last)).id == #"{"l":2,"vf":"r"}"#)
    let query = try Query(json: JSONParser.parse(#"{"vf":"r","sp":null,"l":2,"i":"v"}"#))
    #expect(query.id == #"{"i":"v","l":2,"sin":true,"sp":null,"vf":"r"}"#)
    #expect(Query(index: .key).loadsAllData)
    #expect(!Query(index: .key).isDefault)
  }
}
