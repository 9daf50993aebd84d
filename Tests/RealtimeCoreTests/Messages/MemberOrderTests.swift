import RealtimeCore
import TestSupport
import Testing

/// The kind of data is clear only once the action and the path are known, which may come after it.
@Suite("Message members")
struct MemberOrderTests {
  private static let clientFrames =
    WorkedSessionTests.clientFrames + [
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a/.priority","d":"high"}}}"#,
      #"{"t":"d","d":{"r":2,"a":"o","b":{"p":"/a","d":{".value":1,".priority":2}}}}"#,
      #"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/\u0061\/ü","d":[true,null,{"b":{"a":1.5}}]}}}"#,
      #"{"t":"d","d":{"r":4,"a":"stats"}}"#,
    ]

  @Test(
    "mean the same in any order; the last duplicate counts",
    arguments: clientFrames,
    0..<20 as Range<UInt64>
  )
  func client(frame: String, seed: UInt64) throws {
    let message = try ClientMessage(decoding: Array(frame.utf8))
    let shuffled = try Self.shuffled(frame, seed: seed)
    #expect(try ClientMessage(decoding: Array(shuffled.utf8)) == message, "\(shuffled)")
  }

  @Test(
    "mean the same in any order in server messages",
    arguments: WorkedSessionTests.serverFrames,
    0..<20 as Range<UInt64>
  )
  func server(frame: String, seed: UInt64) throws {
    let message = try ServerMessage(decoding: Array(frame.utf8))
    let shuffled = try Self.shuffled(frame, seed: seed)
    #expect(try ServerMessage(decoding: Array(shuffled.utf8)) == message, "\(shuffled)")
  }

  @Test("are discarded with their body when another body follows")
  func secondBody() throws {
    let text = #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/x","t":5},"b":{"p":"/a","h":""}}}"#
    let listen = ListenRequest(path: "a")
    #expect(try ClientMessage(decoding: Array(text.utf8)) == .request(id: 1, .listen(listen)))
  }

  @Test(
    "cause an error for the request if the data is invalid, wherever the data appears",
    arguments: [
      #""a":"p","b":{"p":"/a","d":{"x/y":{".priority":[]}}}"#,
      #""b":{"d":{".priority":[]},"p":"/a"},"a":"p""#,
      #""a":"p","b":{"d":[1],"p":"/a/.priority"}"#,
    ]
  )
  func noData(members: String) throws {
    let text = #"{"t":"d","d":{\#(members),"r":7}}"#
    let error = #expect(throws: MessageError.self) {
      try ClientMessage(decoding: Array(text.utf8))
    }
    #expect(error?.requestID == 7)
  }

  /// The frame with the members of its three outer objects shuffled, after others with the same
  /// names.
  private static func shuffled(_ frame: String, seed: UInt64) throws -> String {
    var random = SplitMix64(seed: seed)
    return try shuffled(JSONParser.parse(frame), levels: ["d", "b"], &random).text
  }

  private static func shuffled(
    _ value: JSONValue,
    levels: ArraySlice<String>,
    _ random: inout SplitMix64
  ) -> JSONValue {
    guard case .object(var members) = value else { return value }
    for index in members.indices where members[index].name == levels.first {
      members[index].value = shuffled(members[index].value, levels: levels.dropFirst(), &random)
    }
    let decoys = members.filter { _ in Bool.random(using: &random) }
      .map { JSONMember($0.name, decoy(&random)) }
    return .object(decoys.shuffled(using: &random) + members.shuffled(using: &random))
  }

  private static func decoy(_ random: inout SplitMix64) -> JSONValue {
    switch Int.random(in: 0..<7, using: &random) {
    case 0: .null
    case 1: .integer(99)
    case 2: .string("p")
    case 3: .string("d")
    case 4: .array([.integer(1)])
    case 5: .object(("r", .integer(98)), ("a", .string("p")), ("b", .object(("d", .bool(true)))))
    default: .object(("p", .string("/x/.priority")), ("d", .object(("y", .integer(1)))))
    }
  }
}
