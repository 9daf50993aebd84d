import RealtimeCore
import Testing

@Suite("RequestSkimmer")
struct RequestSkimmerTests {
  private func number(_ text: String, by size: Int = .max) -> Int64? {
    var skimmer = RequestSkimmer()
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      skimmer.scan(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    return skimmer.requestID
  }

  @Test(
    "finds the request number for any order and form of members",
    arguments: [
      (#"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/x","d":"y"}}}"#, 5),
      (#"{"t":"d","d":{"a":"p","b":{"p":"/r","d":{"r":7,"d":[8]}},"r":12}}"#, 12),
      (#"{"d":{"b":{"d":"\"r\":3,"},"r" : 1234567890123 ,"a":"p"},"t":"d"}"#, 1_234_567_890_123),
      (#"{ "d" : { "x" : [1,{"r":2}], "r":0}}"#, 0),
      (#"{"b":{"r":1},"d":{"\\r":2,"rr":3,"":4,"r":6}}"#, 6),
    ] as [(String, Int64)]
  )
  func found(text: String, number expected: Int64) {
    for size in [1, 2, 3, 7, 1_000] { #expect(number(text, by: size) == expected) }
  }

  @Test(
    "finds no number where there is no valid one",
    arguments: [
      "", "0", "{", #"{"t":"c","d":{"t":"p","d":{}}}"#, #"{"r":5}"#, #"{"d":[{"r":5}]}"#,
      #"{"d":{"r":"5"}}"#, #"{"d":{"r":-5}}"#, #"{"d":{"r":5.5}}"#, #"{"d":{"r":1e3}}"#,
      #"{"d":{"r":99999999999999999999}}"#, #"{"d":{"r":null}}"#, #"{"d":{"b":{"r":5}}}"#,
      "}}}}]]]]", #"{"d":{"r":5"#,
    ]
  )
  func missing(text: String) {
    for size in [1, 3, 1_000] { #expect(number(text, by: size) == nil) }
  }
}
