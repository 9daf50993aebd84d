import RealtimeCore
import Testing

/// Request members of the wrong type, which would change the meaning of a request if they were
/// treated as missing.
@Suite("ClientMessage members of the wrong type")
struct MessageAttackTests {
  @Test(
    "are reported as an error for their request",
    arguments: [
      ("p", #""p":"/a","d":1,"h":7"#), ("p", #""p":"/a","d":1,"h":null"#),
      ("p", #""p":"/a","d":1,"h":["x"]"#), ("m", #""p":"/a","d":{"b":1},"h":{}"#),
      ("p", #""p":"/a","d":1,"i":5"#), ("p", #""p":"/a","d":1,"i":"c""#),
      ("p", #""p":"/a","d":1,"i":"c:-1""#), ("m", #""p":"/a","d":{"b":1},"i":null"#),
      ("q", #""p":"/a","h":7"#), ("q", #""p":"/a","h":"","q":{"l":1},"t":"1""#),
      ("q", #""p":"/a","h":"","t":1.5"#), ("n", #""p":"/a","q":{"l":1},"t":"1""#),
      ("q", #""p":"/a","h":"","ch":7"#), ("auth", #""cred":7"#), ("gauth", #""cred":{}"#),
      ("auth", #""cred":"","noauth":1"#), ("auth", #""cred":"","noauth":"true""#),
      ("appcheck", #""token":{}"#),
    ]
  )
  func wrongKind(action: String, body: String) {
    let text = #"{"t":"d","d":{"r":3,"a":"\#(action)","b":{\#(body)}}}"#
    let error = #expect(throws: MessageError.self) {
      try ClientMessage(decoding: Array(text.utf8))
    }
    #expect(error?.requestID == 3)
  }
}
