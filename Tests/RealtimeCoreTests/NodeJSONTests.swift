import RealtimeCore
import TestSupport
import Testing

@Suite("Nodes as JSON")
struct NodeJSONTests {
  @Test(
    "become arrays in value format according to the array rule",
    arguments: [
      (#"{"0":"a","1":"b"}"#, #"["a","b"]"#),
      (#"{"1":"a"}"#, #"[null,"a"]"#),
      (#"{"2":"a"}"#, #"{"2":"a"}"#),
      (#"{"2":"a","3":"b"}"#, #"[null,null,"a","b"]"#),
      (#"{"0":"a","3":"b"}"#, #"["a",null,null,"b"]"#),
      (#"{"0":"a","4":"b"}"#, #"{"0":"a","4":"b"}"#),
      (#"{"3":"a","4":"b"}"#, #"{"3":"a","4":"b"}"#),
      (#"{"5":1,"6":1,"7":1}"#, #"{"5":1,"6":1,"7":1}"#),
      (#"{"00":"a","1":"b"}"#, #"{"00":"a","1":"b"}"#),
      (#"{"01":"b"}"#, #"{"01":"b"}"#),
      (#"{"-1":"b","0":"a"}"#, #"{"-1":"b","0":"a"}"#),
      (#"{"0":1,"a":2}"#, #"{"0":1,"a":2}"#),
      (#"{"0":{"0":1},"1":{"a":2}}"#, #"[[1],{"a":2}]"#),
      (#"{"0":{".value":1,".priority":2}}"#, "[1]"),
      (#"{"2147483647":1}"#, #"{"2147483647":1}"#),
    ]
      + ["123456789012345", "999999999999999", "2147483646", "4294967295"].flatMap {
        [#"{"\#($0)":true}"#, #"{"0":1,"\#($0)":true}"#].map { ($0, $0) }
      }
  )
  func arrays(export: String, value: String) throws {
    let node = try Node(text: export)
    #expect(node.json(.value).text == value)
    #expect(node.exportText == export)
  }

  @Test(
    "are parsed from either format",
    arguments: [
      (#"[1,"a",true,null]"#, #"{"0":1,"1":"a","2":true}"#),
      ("[null,null]", "null"), ("[]", "null"), ("{}", "null"), (#"{".priority":5}"#, "null"),
      (#"{"a":{"b":null}}"#, "null"),
      (#"{".value":5}"#, "5"),
      (#"{".value":null,".priority":1,"a":2}"#, #"{"a":2,".priority":1}"#),
      (#"{".priority":null,"a":1}"#, #"{"a":1}"#),
      (#"{"b":1,"a":2,"10":3,"9":4}"#, #"{"9":4,"10":3,"a":2,"b":1}"#),
      (#"{"a":1,"a":2}"#, #"{"a":2}"#),
      (#"{"a":1,"b":2,"a":null}"#, #"{"b":2}"#),
      (
        #"{".priority":7,"a":1,"b":{".priority":3,".value":2}}"#,
        #"{"a":1,"b":{".value":2,".priority":3},".priority":7}"#
      ),
      (
        #"{".value":{".sv":"timestamp"},".priority":1}"#,
        #"{".value":{".sv":"timestamp"},".priority":1}"#
      ),
    ]
  )
  func reading(text: String, export: String) throws {
    #expect(try Node(text: text).exportText == export)
  }

  @Test(
    "are rejected if invalid",
    arguments: [
      #"{".value":5,"a":1}"#, #"{".unknown":1,"a":1}"#, #"{"":null}"#, #"{".value":{"a":1}}"#,
      #"{".value":[1]}"#, #"{"a":1,".priority":true}"#,
      #"{"a":1,".priority":{"b":1}}"#, #"{"a":1,".priority":[]}"#, #"{"x":{"a":1,".priority":{}}}"#,
    ]
  )
  func refusal(text: String) {
    #expect(throws: NodeError.self) { try Node(text: text) }
  }

  @Test("round-trip, including priorities and leaf types", arguments: Thoroughness.seeds(4))
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<1_000 {
      let node = Node.random(depth: 4, using: &random)
      let copy = try Node(text: node.exportText)
      #expect(copy == node)
      #expect(copy.hash == node.hash)
      #expect(copy.exportText == node.exportText)
      var writer = JSONWriter()
      node.write(to: &writer)
      #expect(writer.text == node.exportText)
    }
  }

  @Test("keep their values in value format")
  func valueRoundTrip() throws {
    var random = SplitMix64(seed: 8)
    for _ in 0..<500 {
      let value = Node.random(depth: 3, using: &random).json(.value)
      #expect(try Node(json: value).json(.value) == value)
    }
  }

  @Test("are equal whatever the order of members")
  func memberOrder() throws {
    var random = SplitMix64(seed: 12)
    for _ in 0..<300 {
      let node = Node.random(depth: 2, using: &random)
      guard case .object(let members) = node.json(.export) else { continue }
      #expect(try Node(json: .object(members.shuffled(using: &random))) == node)
    }
  }
}
