import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: hostile input")
struct HostileInputTests {
  @Test(
    "A numbered request gets exactly one response, however malformed",
    arguments: ["p", "m", "q", "n", "g", "o", "om", "oc", "auth", "gauth", "appcheck", "s", "zz"]
  )
  func numbered(action: String) throws {
    let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
    let values = [
      "null", "true", "-1", "1.5", "1e400", #""\ud83d""#, #""\udc35x""#, #"{"\ud83d":1}"#, deep,
      "[]", "{}", #"{"":1}"#, #"{"/":1}"#, #"{".foo":1}"#, #"{".value":1,"b":2}"#, "01", "+1",
      "nul",
      #"{"a":1,"a":2}"#, #"{"a":1,"a/b":2}"#, #"{"a":}"#, "[1", #""open"#, #""\x""#, "\"\u{1}\"",
      "{\"\(String(repeating: "k", count: 800))\":1}", #"{".sv":"x"}"#,
      #"{".sv":"timestamp","a":1}"#,
    ]
    let names = [
      "p", "d", "q", "t", "h", "i", "ch", "cred", "authvar", "noauth", "token", "c", "x",
    ]
    var dialogue = try Dialogue(#"{"kept":1}"#)
    for (number, value) in values.enumerated() {
      for name in names {
        let others = ["p": #""/a""#, "d": #"{"b":1}"#].filter { $0.key != name }
          .map { "\"\($0)\":\($1)," }.sorted().joined()
        let text =
          #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":{\#(others)"\#(name)":\#(value)}}}"#
        let answers = dialogue.say(text).filter { $0.contains("\"r\":\(number)}") }
        #expect(answers.count == 1, "\(text.prefix(300))")
      }
      for text in [
        #"{"t":\#(value),"d":{"r":7,"a":"p"}}"#, #"{"t":"d","x":\#(value),"d":{"r":7,"a":"p"}}"#,
        #"{"t":"d","d":{"r":7,"a":\#(value),"b":{}}}"#,
        #"{"t":"d","d":{"a":"p","b":\#(value),"r":7}}"#,
        #"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/a","d":1},"\ud83d":\#(value)}}"#,
      ] where !["[1", #""open"#].contains(value) {
        #expect(dialogue.say(text).contains { $0.contains("\"r\":7}") }, "\(text.prefix(300))")
      }
    }
    #expect(dialogue.ask(99, "g", #"{"p":"/kept"}"#).contains { $0.contains(#""d":1"#) })
  }

  @Test("Paths with very many keys are refused or ignored at once")
  func longPaths() throws {
    var dialogue = try Dialogue()
    let path = String(repeating: "a/", count: 200_000)
    for (id, action) in ["p", "q", "g", "o", "m"].enumerated() {
      let answer = dialogue.ask(id, action, #"{"p":"\#(path)","d":{"x":1},"h":""}"#)
      #expect(statuses(answer) == ["invalid_data"])
    }
    for action in ["n", "oc"] {
      #expect(statuses(dialogue.ask(9, action, #"{"p":"\#(path)","d":null}"#)) == ["ok"])
    }
  }

  @Test("Integers and doubles at the edge of 64 bits keep windows in order")
  func edgeNumbers() throws {
    var dialogue = try Dialogue()
    let numbers = ["9223372036854775807", "9223372036854775808", "9223372036854775806", "9.3e18"]
    _ = dialogue.ask(1, "q", #"{"p":"/","q":{"i":".value","l":3,"vf":"l"},"t":1,"h":""}"#)
    for round in 0..<24 {
      let key = ["a", "b", "c", "d", "e"][round % 5]
      let number = numbers[(round * 7 + round / 5) % 4]
      #expect(statuses(dialogue.ask(round, "p", #"{"p":"/\#(key)","d":\#(number)}"#)) == ["ok"])
    }
  }
}
