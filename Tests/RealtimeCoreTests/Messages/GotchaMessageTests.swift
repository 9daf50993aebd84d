import RealtimeCore
import Testing

/// The parts of the protocol's gotchas D that concern messages, by number.
@Suite("Gotchas D: messages")
struct GotchaMessageTests {
  private func text(_ message: ServerMessage) -> String {
    String(decoding: message.encoded(), as: UTF8.self)
  }

  private func request(_ json: String) throws -> ClientRequest? {
    let text = #"{"t":"d","d":{"r":1,\#(json)}}"#
    guard case .request(1, let request) = try ClientMessage(decoding: Array(text.utf8)) else {
      return nil
    }
    return request
  }

  @Test(
    "19. A message is split by UTF-16 units after a frame with the number of pieces",
    arguments: [
      (16_384, [16_384]), (16_385, [1, 16_384, 1]), (32_768, [1, 16_384, 16_384]),
      (32_769, [1, 16_384, 16_384, 1]),
    ]
  )
  func cutting(length: Int, frames: [Int]) {
    let message = [UInt8](repeating: UInt8(ascii: "x"), count: length)
    #expect(FrameAssembler.frames(of: message).map(\.count) == frames)
  }

  @Test("19. Characters of two units count twice and are never split")
  func wideCharacters() throws {
    let value = Node.string(String(repeating: "🐵", count: 9_000))
    let message = ServerMessage.push(.data(path: "x", value, tag: nil)).encoded()
    let frames = FrameAssembler.frames(of: message)
    #expect(frames.count == 3)
    #expect(frames[0] == Array("2".utf8))
    #expect(frames.dropFirst().allSatisfy { String(validating: $0, as: UTF8.self) != nil })
  }

  @Test("19. Pieces, an announced single piece, a bare message and a keepalive are distinguished")
  func assembling() throws {
    var assembler = FrameAssembler()
    func receive(_ text: String) throws -> String? {
      try assembler.receive(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(try receive("2") == nil)
    #expect(try receive("{\"a\"") == nil)
    #expect(try receive(":1}") == "{\"a\":1}")
    #expect(try receive("1") == nil)
    #expect(try receive("{}") == "{}")
    #expect(try receive("{}") == "{}")
    #expect(try receive("0") == nil)
    #expect(try receive("{}") == "{}")
  }

  @Test("20. A greeting contains the time, the version as a string, host and port, and the session")
  func hello() {
    let hello = ServerHello(timestamp: 1_700_000_000_000, host: "localhost:9000", session: "s1")
    #expect(
      text(.hello(hello))
        == #"{"t":"c","d":{"t":"h","d":{"ts":1700000000000,"v":"5","h":"localhost:9000","s":"s1"}}}"#
    )
  }

  @Test("21. A pong contains data and a removal null, because clients ignore messages without")
  func data() {
    #expect(text(.pong) == #"{"t":"c","d":{"t":"o","d":{}}}"#)
    #expect(
      text(.push(.data(path: "x", .empty, tag: nil)))
        == #"{"t":"d","d":{"a":"d","b":{"p":"x","d":null}}}"#
    )
    #expect(text(.response(id: 5, .init(.ok))) == #"{"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}"#)
  }

  @Test(
    "22. Extra slashes are ignored and escapes are not decoded",
    arguments: [
      ("/a b/ü", ["a b", "ü"]), ("a b/ü", ["a b", "ü"]), ("", []), ("/", []),
      ("/a//b/", ["a", "b"]), ("/%41/b%2Fc", ["%41", "b%2Fc"]),
    ] as [(String, [ChildKey])]
  )
  func paths(text: String, keys: [ChildKey]) throws {
    let get = try request(#""a":"g","b":{"p":"\#(text)","q":{}}"#)
    #expect(get == .get(path: Path(keys), query: .all))
  }

  @Test("24. Both auth actions accept a token, and an administrator's may impersonate a user")
  func credentials() throws {
    #expect(
      try request(#""a":"auth","b":{"cred":"a.b.c"}"#)
        == .authenticate(ClientRequest.Authentication(credential: "a.b.c"))
    )
    #expect(
      try request(#""a":"gauth","b":{"cred":"owner","authvar":{"uid":"u"}}"#)
        == .authenticate(
          ClientRequest.Authentication(
            credential: "owner",
            isAdministrative: true,
            override: .object(("uid", .string("u")))
          )
        )
    )
    #expect(
      try request(#""a":"gauth","b":{"cred":"owner","noauth":true}"#)
        == .authenticate(
          ClientRequest.Authentication(
            credential: "owner",
            isAdministrative: true,
            actsAsNobody: true
          )
        )
    )
  }

  @Test(
    "24. Both spellings of the App Check sign-out are accepted",
    arguments: ["unappeck", "unappcheck"]
  )
  func appCheck(action: String) throws {
    #expect(try request(#""a":"\#(action)","b":{}"#) == .appCheck(nil))
  }

  @Test("13. The keys of an update may be paths, but none may contain another")
  func updatePlaces() throws {
    func changes(_ json: String) throws -> [Path] {
      try Change.changes(json: JSONParser.parse(json)).map(\.path)
    }
    #expect(
      try changes(#"{"a/b":1,"/c":2,"d//e":3,"f/.priority":4}"#)
        == ["a/b", "c", "d/e", Path(["f", .priority])]
    )
    #expect(try changes(#"{".priority":4}"#) == [Path([.priority])])
    #expect(try changes("{}").isEmpty)
    #expect(throws: NodeError.self) { try changes(#"{"a":{},"a/b":1}"#) }
    #expect(throws: NodeError.self) { try changes(#"{"a/b":1,"/a//b":2}"#) }
  }

  @Test("F. Statuses are lowercase")
  func statuses() {
    let denied = ServerMessage.response(
      id: 1,
      .init(.permissionDenied, payload: .json(.string("no")))
    )
    #expect(text(denied) == #"{"t":"d","d":{"r":1,"b":{"s":"permission_denied","d":"no"}}}"#)
  }
}
