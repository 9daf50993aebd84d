import RealtimeCore
import Testing

@Suite("The protocol's example session")
struct WorkedSessionTests {
  static let clientFrames = [
    #"{"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.js.9-5-0":1}}}}"#,
    #"{"t":"d","d":{"r":2,"a":"auth","b":{"cred":"eyJ…."}}}"#,
    #"{"t":"d","d":{"r":3,"a":"q","b":{"p":"/rooms/r1","h":""}}}"#,
    #"{"t":"d","d":{"r":4,"a":"q","b":{"p":"/msgs","q":{"l":2,"vf":"r"},"t":1,"h":""}}}"#,
    #"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/rooms/r1/at","d":{".sv":"timestamp"}}}}"#,
    #"{"t":"d","d":{"r":6,"a":"m","b":{"p":"/","d":{"rooms/r1/n":{".sv":{"increment":1}},"msgs/-Nc":"z"}}}}"#,
    #"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/rooms/r1/n","d":3,"h":"kQ="}}}"#,
    #"{"t":"d","d":{"r":8,"a":"p","b":{"p":"/secret","d":1}}}"#,
    #"{"t":"d","d":{"r":9,"a":"om","b":{"p":"/rooms/r1","d":{"presence/u1":null}}}}"#,
    #"{"t":"d","d":{"r":10,"a":"g","b":{"p":"/rooms","q":{"l":1,"vf":"l","i":".key"}}}}"#,
    #"{"t":"c","d":{"t":"p","d":{}}}"#,
    #"{"t":"d","d":{"r":11,"a":"n","b":{"p":"/msgs","q":{"l":2,"vf":"r"},"t":1}}}"#,
  ]

  static let serverFrames = [
    #"{"t":"c","d":{"t":"h","d":{"ts":1700000000000,"v":"5","h":"localhost:9000","s":"a1b2"}}}"#,
    #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#,
    #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":{"auth":{"uid":"u1","provider":"custom","token":{"sub":"u1"}},"expires":1700003600}}}}"#,
    #"{"t":"d","d":{"a":"d","b":{"p":"rooms/r1","d":{"title":"Hi","n":1}}}}"#,
    #"{"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}"#,
    #"{"t":"d","d":{"a":"d","b":{"p":"msgs","d":{"-Na":"x","-Nb":"y"},"t":1}}}"#,
    #"{"t":"d","d":{"a":"d","b":{"p":"rooms/r1/at","d":1700000001234}}}"#,
    #"{"t":"d","d":{"a":"m","b":{"p":"rooms/r1","d":{"n":2}}}}"#,
    #"{"t":"d","d":{"a":"m","b":{"p":"msgs","d":{"-Nc":"z","-Na":null},"t":1}}}"#,
    #"{"t":"d","d":{"r":8,"b":{"s":"permission_denied","d":"Permission denied"}}}"#,
    #"{"t":"d","d":{"r":10,"b":{"s":"ok","d":{"r1":{"title":"Hi","n":3,"at":1700000001234}}}}}"#,
    #"{"t":"c","d":{"t":"o","d":{}}}"#,
  ]

  @Test("round-trips the client's messages exactly", arguments: clientFrames)
  func client(frame: String) throws {
    let message = try ClientMessage(decoding: Array(frame.utf8))
    let written = message.encoded()
    #expect(try ClientMessage(decoding: written) == message)
    #expect(String(decoding: written, as: UTF8.self) == frame)
  }

  @Test(
    "round-trips the server's messages, except for the order of children",
    arguments: serverFrames
  )
  func server(frame: String) throws {
    let message = try ServerMessage(decoding: Array(frame.utf8))
    let written = message.encoded()
    #expect(try ServerMessage(decoding: written) == message)
    #expect(try JSONParser.parse(written).canonicalText == JSONParser.parse(frame).canonicalText)
  }

  @Test("contains the documented update")
  func content() throws {
    #expect(
      try ClientMessage(decoding: Array(Self.clientFrames[5].utf8))
        == .request(
          id: 6,
          .write(
            WriteRequest(
              path: .root,
              operation: .merge([
                Change("rooms/r1/n", to: .leaf(.deferred(.incrementInteger(1)))),
                Change("msgs/-Nc", to: .string("z")),
              ])
            )
          )
        )
    )
  }
}
