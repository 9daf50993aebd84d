import RealtimeCore
import TestSupport
import Testing

@Suite("ServerMessage")
struct ServerMessageTests {
  private func text(_ message: ServerMessage) -> String {
    String(decoding: message.encoded(), as: UTF8.self)
  }

  static let messages: [ServerMessage] = [
    .hello(ServerHello(timestamp: 1_700_000_000_000, host: "localhost:9000", session: "s1")),
    .hello(ServerHello(timestamp: 1, host: "h", session: "s", extensions: [.writeOnce])),
    .reset(host: "other:1"),
    .shutdown(reason: "bye"),
    .error("oh"),
    .pong,
    .response(id: 5, .init(.ok)),
    .response(id: 5, .init(.ok, payload: .json(.object(("w", .array([.string("no_index")])))))),
    .response(id: 5, .init(.permissionDenied, payload: .json(.string("Permission denied")))),
    .response(id: 5, .init(.dataStale, payload: .json(.null))),
    .push(.data(path: "a/b", .integer(5), tag: nil)),
    .push(.data(path: .root, .empty, tag: 3)),
    .push(.data(path: "a/.priority", .string("p"), tag: nil)),
    .push(.merge(path: "a", [Change("c", to: .integer(3)), Change("x/y", to: .empty)], tag: 1)),
    .push(.merge(path: "a", [Change("x/.priority", to: .integer(2))], tag: nil)),
    .push(.merge(path: "a", [], tag: nil)),
    .push(
      .rangeMerge(
        path: "a",
        [
          RangeMerge(start: nil, end: "b", node: .integer(1)),
          RangeMerge(start: "b", end: "c/d", node: .empty),
          RangeMerge(start: "c/d", end: nil, node: .empty.setting(Path("e"), to: .bool(true))),
        ],
        tag: 4
      )
    ),
    .push(.listenRevoked(path: "a", queries: nil)),
    .push(.listenRevoked(path: "a", queries: [.all, Query(limit: Query.Limit(2, side: .last))])),
    .push(.authenticationRevoked(.expiredToken, reason: "Auth token is expired.")),
    .push(.appCheckRevoked(.invalidToken, reason: "no")),
    .push(.securityDebug("line\nline")),
    .push(.unknown(action: "zz")),
  ]

  @Test("round-trips every kind of message", arguments: messages)
  func roundTrip(message: ServerMessage) throws {
    let copy = try ServerMessage(decoding: message.encoded())
    #expect(copy == message)
    #expect(copy.encoded() == message.encoded())
  }

  @Test(
    "A half of a surrogate pair, which clients in JavaScript store, is replaced",
    arguments: [
      (#"\ud800"#, "�"), (#"a\udc00b"#, "a�b"), (#"\uD83D"#, "�"), (#"\ud83d\ud83d\ude00"#, "�😀"),
      (#"\ud83d\ude00\ud800\n"#, "😀�\n"), (#"\\\ud800\\ud800"#, #"\�\ud800"#),
    ]
  )
  func loneSurrogates(escaped: String, text: String) throws {
    let push = #"{"t":"d","d":{"a":"d","b":{"p":"a","d":"\#(escaped)"}}}"#
    let message = try ServerMessage(decoding: Array(push.utf8))
    guard case .push(.data(path: "a", let data, tag: nil)) = message else {
      Issue.record("\(message)")
      return
    }
    #expect(data.json(.export) == .string(text))
  }

  @Test("encodes the data of a response in export format")
  func nodeAnswer() throws {
    let node = try Node(json: JSONParser.parse(#"{"a":{".value":1,".priority":2},"0":3}"#))
    let message = ServerMessage.response(id: 1, .init(.ok, payload: .node(node)))
    #expect(
      text(message)
        == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"0":3,"a":{".value":1,".priority":2}}}}}"#
    )
    guard case .response(1, let response) = try ServerMessage(decoding: message.encoded()),
      case .json(let json) = response.payload
    else { throw Unexpected("no answer with JSON") }
    #expect(try Node(json: json) == node)
  }

  @Test("always has the members that official clients require")
  func members() {
    #expect(text(.pong) == #"{"t":"c","d":{"t":"o","d":{}}}"#)
    #expect(
      text(.push(.data(path: "x", .empty, tag: nil)))
        == #"{"t":"d","d":{"a":"d","b":{"p":"x","d":null}}}"#
    )
    #expect(text(.response(id: 5, .init(.ok))) == #"{"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}"#)
    #expect(
      text(
        .push(.merge(path: "A", [Change("c", to: .integer(3)), Change("a", to: .empty)], tag: 1))
      )
        == #"{"t":"d","d":{"a":"m","b":{"p":"A","d":{"c":3,"a":null},"t":1}}}"#
    )
    #expect(
      text(Self.messages[0])
        == #"{"t":"c","d":{"t":"h","d":{"ts":1700000000000,"v":"5","h":"localhost:9000","s":"s1"}}}"#
    )
  }

  @Test("ignores unknown extensions")
  func extensions() throws {
    let text = #"{"t":"c","d":{"t":"h","d":{"ts":1,"v":"5","h":"h","s":"s","x":["once","zz",5]}}}"#
    #expect(try ServerMessage(decoding: Array(text.utf8)) == Self.messages[1])
  }

  @Test(
    "is rejected when malformed",
    arguments: [
      "", "{}", #"{"t":"c","d":{"t":"o"}}"#, #"{"t":"c","d":{}}"#, #"{"t":"c"}"#,
      #"{"t":"c","d":{"t":"h","d":{}}}"#, #"{"t":"d","d":{"r":1}}"#,
      #"{"t":"d","d":{"r":1,"b":{}}}"#,
      #"{"t":"d","d":{"a":"d","b":{"p":"a","d":{".value":[1]}}}}"#,
      #"{"t":"d","d":{"a":"m","b":{"p":"a","d":{"a":1,"a/b":2}}}}"#,
      #"{"t":"d","d":{"a":"d","b":{"p":"a/.priority","d":true}}}"#,
    ]
  )
  func malformed(text: String) {
    #expect(throws: MessageError.self) { try ServerMessage(decoding: Array(text.utf8)) }
  }

  @Test("is a response if it has a request number, whatever else it contains")
  func answerWithAction() throws {
    let text = #"{"t":"d","d":{"r":1,"a":"m","b":{"s":"ok","p":"x","d":{"y":5}}}}"#
    #expect(
      try ServerMessage(decoding: Array(text.utf8))
        == .response(id: 1, .init(.ok, payload: .json(.object(("y", .integer(5))))))
    )
  }

  @Test("revokes the listens it names, or the default listen if it names none")
  func revoked() throws {
    for (members, queries) in [("", nil), (#","q":[]"#, []), (#","q":[{}]"#, [Query.all])] {
      let text = #"{"t":"d","d":{"a":"c","b":{"p":"x"\#(members)}}}"#
      #expect(
        try ServerMessage(decoding: Array(text.utf8))
          == .push(.listenRevoked(path: "x", queries: queries))
      )
    }
  }

  @Test("parses a fatal error")
  func fatal() throws {
    #expect(
      try ServerMessage(decoding: Array(#"{"t":"d","d":{"error":"no"}}"#.utf8)) == .error("no")
    )
  }
}
