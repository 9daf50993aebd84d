import RealtimeCore
import Testing

@Suite("ClientMessage")
struct ClientMessageTests {
  private func message(_ text: String) throws -> ClientMessage {
    try ClientMessage(decoding: Array(text.utf8))
  }

  private func text(_ message: ClientMessage) -> String {
    String(decoding: message.encoded(), as: UTF8.self)
  }

  /// The bodies of writes, some of which are not valid messages.
  static let bodies = [
    #""p":"/a/b","d":{"title":"x","n":[1,2],"m":{"k":true}}"#,
    #""p":"/a","d":null"#, #""p":"","d":{}"#, #""p":"/a/.priority","d":"p""#,
    #""p":"/a","d":{".value":1,".priority":2}"#, #""p":"/a","d":{"b":{".sv":"timestamp"}}"#,
    #""p":"/a","d":1,"h":"hash""#, #""p":"/a","d":1,"h":"hash","i":"c1:5""#,
    #""p":"/a","d":1,"i":"c1:5""#, #""p":"/a","d":1,"i":"c1""#, #""p":"/a","d":1,"h":7"#,
    #""p":"/a","d":1,"i":"c1:5","h":"hash""#, #""p":"/a","d":1,"d":2"#, #""p":"/a","d":1,"x":2"#,
    #""p":"/\u00e9","d":"\u00e9\n""#, #""p":7,"d":1"#, #""p":"/a","d":{"b":1,"b":2}"#,
    #""p":"/a","d":{"b":1,"a":2}"#, #""p":"/a","d":{"b":[}"#, #""p":"/a""#, #""p":"/a","d":01"#,
    #""p":"/a","d":{".value":{"b":1}}"#, #""p":"/a","d":[[[[1]]]]"#,
  ]
  static let numbers = [
    "1", "0", "123456789012345678", "1234567890123456789", "-1", "01", "1.5", "",
  ]

  @Test(
    "parses a write the same whether its members are in the usual order or another",
    arguments: bodies
  )
  func usualOrder(_ body: String) {
    for number in Self.numbers {
      let text = #"{"t":"d","d":{"r":\#(number),"a":"p","b":{\#(body)}}}"#
      for depth in [3, Limits.jsonDepth] {
        func read(_ text: String) -> Result<ClientMessage, MessageError> {
          Result { () throws(MessageError) in
            try ClientMessage(decoding: Array(text.utf8), depthLimit: depth)
          }
        }
        // The fast path does not handle a trailing space.
        #expect(read(text) == read(text + " "), "\(text)")
        #expect(throws: MessageError.self) { try read(String(text.dropLast())).get() }
        #expect(throws: MessageError.self) { try read(text + "}").get() }
      }
    }
  }

  static let requests: [ClientRequest] = [
    .stats(.object(("sdk.js.9-5-0", .integer(1)))),
    .authenticate(.init(credential: "a.b.c")),
    .authenticate(
      .init(credential: "owner", isAdministrative: true, override: .object(("uid", .string("u"))))
    ),
    .authenticate(.init(credential: "owner", isAdministrative: true, actsAsNobody: true)),
    .unauthenticate,
    .appCheck("token"),
    .appCheck(nil),
    .listen(ListenRequest(path: "rooms/r1")),
    .listen(ListenRequest(path: .root, hash: "AUZnXhNqrfbznYVxcCvNpzpjvTU=")),
    .listen(ListenRequest(path: "msgs", query: Query(limit: Query.Limit(2, side: .last)), tag: 1)),
    .listen(
      ListenRequest(
        path: "a",
        hash: "h",
        compoundHash: .init(posts: ["a/b", "c"], hashes: ["x", "y", ""])
      )
    ),
    .unlisten(path: "a", query: .all, tag: nil),
    .unlisten(path: "a", query: Query(index: .key, limit: Query.Limit(1, side: .first)), tag: 7),
    .get(path: "a b/ü", query: .all),
    .get(path: .root, query: Query(index: .child("a/b"), start: QueryBound(nil))),
    .write(WriteRequest(path: "a", operation: .set(.empty))),
    .write(
      WriteRequest(
        path: "a",
        operation: .set(.leaf(.string("x"), priority: Priority(.integer(1)))),
        hash: "",
        key: WriteKey(client: "c1", number: 5)
      )
    ),
    .write(WriteRequest(path: "a/.priority", operation: .set(.string("p")))),
    .write(
      WriteRequest(
        path: .root,
        operation: .merge([
          Change("a/b", to: .leaf(.deferred(.incrementInteger(1)))), Change("c", to: .empty),
          Change("d/.priority", to: .integer(4)),
        ])
      )
    ),
    .write(WriteRequest(path: "a", operation: .merge([]), hash: "h")),
    .onDisconnect(path: "a", .set(.leaf(.deferred(.timestamp)))),
    .onDisconnect(path: "a", .merge([Change("presence/u1", to: .empty)])),
    .cancelOnDisconnect(path: "a"),
    .unknown(action: "zz"),
  ]

  @Test("round-trips every kind of request", arguments: requests)
  func roundTrip(request: ClientRequest) throws {
    let message = ClientMessage.request(id: 42, request)
    let copy = try ClientMessage(decoding: message.encoded())
    #expect(copy == message)
    #expect(copy.encoded() == message.encoded())
  }

  @Test("round-trips control messages", arguments: [.ping, .control("n")] as [ClientMessage])
  func control(message: ClientMessage) throws {
    #expect(try ClientMessage(decoding: message.encoded()) == message)
  }

  @Test("is encoded as official clients encode it")
  func spelling() {
    #expect(text(.ping) == #"{"t":"c","d":{"t":"p","d":{}}}"#)
    #expect(
      text(.request(id: 4, Self.requests[9]))
        == #"{"t":"d","d":{"r":4,"a":"q","b":{"p":"/msgs","q":{"l":2,"vf":"r"},"t":1,"h":""}}}"#
    )
    #expect(
      text(.request(id: 1, .listen(ListenRequest(path: .root))))
        == #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/","h":""}}}"#
    )
    #expect(
      text(.request(id: 1, .get(path: "a", query: .all)))
        == #"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/a","q":{}}}}"#
    )
    #expect(text(.request(id: 1, .appCheck(nil))).contains(#""a":"unappeck""#))
    #expect(
      text(.request(id: 1, .cancelOnDisconnect(path: "a")))
        == #"{"t":"d","d":{"r":1,"a":"oc","b":{"p":"/a","d":null}}}"#
    )
    #expect(
      text(.request(id: 1, .write(WriteRequest(path: "a", operation: .set(.empty), hash: ""))))
        == #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":null,"h":""}}}"#
    )
  }

  @Test(
    "accepts both spellings of the App Check sign-out action",
    arguments: ["unappeck", "unappcheck"]
  )
  func appCheck(action: String) throws {
    #expect(
      try message(#"{"t":"d","d":{"r":1,"a":"\#(action)","b":{}}}"#)
        == .request(id: 1, .appCheck(nil))
    )
  }

  @Test("accepts every spelling of a path", arguments: ["/a/b", "a/b", "a//b/", "//a/b"])
  func paths(path: String) throws {
    let message = try message(#"{"t":"d","d":{"r":0,"a":"q","b":{"p":"\#(path)","h":""}}}"#)
    #expect(message == .request(id: 0, .listen(ListenRequest(path: "a/b"))))
  }

  @Test("treats an empty query object as the default query")
  func emptyQuery() throws {
    let message = try message(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"a","q":{},"h":""}}}"#)
    #expect(message == .request(id: 1, .listen(ListenRequest(path: "a"))))
  }

  @Test(
    "is rejected when malformed, with its request number if it has one",
    arguments: [
      ("", nil), ("x", nil), ("null", nil), ("[]", nil), ("{}", nil), (#"{"t":"d"}"#, nil),
      (#"{"t":"c"}"#, nil), (#"{"t":"c","d":{"t":"p","d":{}}}{}"#, nil),
      (#"{"t":"x","d":{}}"#, nil), (#"{"d":{"r":1,"a":"q"}}"#, 1), (#"{"t":5,"d":{}}"#, nil),
      (#"{"t":"d","d":{}}"#, nil), (#"{"t":"d","d":{"a":"q"}}"#, nil), (#"{"t":"d","d":[]}"#, nil),
      (#"{"t":"d","d":{"r":"1","a":"q"}}"#, nil), (#"{"t":"d","d":{"r":1.5,"a":"q"}}"#, nil),
      (#"{"t":"d","d":{"r":7}}"#, 7), (#"{"t":"d","d":{"r":7,"a":5}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"q","b":{}}}"#, 7), (#"{"t":"d","d":{"r":7,"a":"q"}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"q","b":{"p":5}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"q","b":{"p":"a","q":5}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"q","b":{"p":"a","q":{"l":0}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"q","b":{"p":"a","ch":{"hs":[],"ps":[]}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"q","b":{"p":"a","ch":{"hs":[1],"ps":[]}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"a"}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"a","d":1}}}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"p","b":{"d":1}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"a","d":{".value":{"x":1}}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"a","d":{"x":1,".priority":true}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"a/.priority","d":true}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"a/.priority","d":{"x":1}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"o","b":{"p":"a/.priority","d":false}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"m","b":{"p":"a","d":5}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"m","b":{"p":"a","d":{"a":1,"a/b":2}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"m","b":{"p":"a","d":{"a":1,"/a/":2}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"m","b":{"p":"a","d":{"b/.priority":true}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"om","b":{"p":"a","d":{"":1,"b":2}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"m","b":{"p":"a","d":{"/":1}}}}"#, 7),
      (#"{"t":"d","d":{"a":"p","b":{"p":"a","d":"\ud83d"},"r":7}}"#, 7),
      (#"{"t":"d","d":{"r":6,"r":7,"a":"p","b":{"p":"a","d":{"\"}":[1e400]}}}}"#, 7),
      (#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"a","d":"open"#, 7),
      (#"{"t":"d","d":{"x":{"r":7},"a":"p","b":[}}}"#, nil),
    ] as [(String, Int64?)]
  )
  func malformed(text: String, id: Int64?) {
    let error = #expect(throws: MessageError.self) { try message(text) }
    #expect(error?.requestID == id)
    #expect(error?.reason.isEmpty == false)
  }

  @Test("is parsed down to the depth limit and no deeper")
  func depth() throws {
    func text(_ depth: Int) -> [UInt8] {
      let data = String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
      return Array(#"{"t":"d","d":{"r":7,"a":"p","b":{"p":"a","d":\#(data)}}}"#.utf8)
    }
    #expect(try ClientMessage(decoding: text(8), depthLimit: 8) == ClientMessage(decoding: text(8)))
    #expect(throws: MessageError.self) { try ClientMessage(decoding: text(9), depthLimit: 8) }
  }

  @Test(
    "accepts an update whose paths do not contain each other",
    arguments: [
      (#"{"a":1,"a-b":2,"ab/c":3,"b/.priority":1}"#, ["a", "a-b", "ab/c", "b/.priority"]),
      (#"{"a/b":1,"/c":2,"d//e":3}"#, ["a/b", "c", "d/e"]), (#"{".priority":4}"#, [".priority"]),
      ("{}", []),
    ] as [(String, [Path])]
  )
  func updatePaths(json: String, paths: [Path]) throws {
    #expect(try Change.changes(json: JSONParser.parse(json)).map(\.path) == paths)
  }
}
