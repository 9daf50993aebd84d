import RealtimeCore
import RealtimeServer
import TestSupport
import Testing
import TransportTestSupport

/// Large messages are parsed and encoded off the event loop, which must have no effect other than
/// on timing.
@Suite("Large messages", .timeLimit(.minutes(2)), .cleansUp)
struct LargeMessageTests {
  private static let text = String(repeating: "x", count: 100_000)

  private func request(_ id: Int, _ action: String, _ body: String) -> String {
    #"{"t":"d","d":{"r":\#(id),"a":"\#(action)","b":\#(body)}}"#
  }

  @Test("Requests are answered in order, whatever their size")
  func order() async throws {
    let server = try await DatabaseServer.startForTest()
    let client = try await server.connectAndGreet()
    client.send(request(1, "p", #"{"p":"/a","d":{"t":"\#(Self.text)","n":0}}"#))
    client.send(request(2, "p", #"{"p":"/b","d":1}"#))
    for id in 3..<40 {
      switch id % 3 {
      case 0: client.send(request(id, "g", #"{"p":"/a","q":{}}"#))
      case 1: client.send(request(id, "p", #"{"p":"/a/n","d":\#(id)}"#))
      default: client.send(request(id, "g", #"{"p":"/b","q":{}}"#))
      }
    }
    for id in 1..<40 {
      let answer = try await client.next()
      #expect(answer.hasPrefix(#"{"t":"d","d":{"r":\#(id),"#), "\(answer.prefix(40))")
      guard id >= 3, id % 3 == 0 else { continue }
      // It shows what was written before the request, and nothing later.
      let last = id == 3 ? 0 : id - 2
      #expect(answer.contains(#""n":\#(last),"#), "\(answer.prefix(80))")
    }
  }

  @Test("Pushes of a large listen follow its data, and none is lost")
  func listen() async throws {
    let server = try await DatabaseServer.startForTest()
    let writer = try await server.connectAndGreet()
    try await writer.ask(1, "p", #"{"p":"/a","d":{"t":"\#(Self.text)","n":0}}"#)
    let client = try await server.connectAndGreet()
    client.send(request(1, "q", #"{"p":"/a","h":""}"#))
    for id in 2..<30 { client.send(request(id, "p", #"{"p":"/a/n","d":\#(id)}"#)) }
    let data = try await client.next()
    #expect(data.hasPrefix(#"{"t":"d","d":{"a":"d","b":{"p":"a","d":{"#))
    #expect(data.contains(#""n":0,"#))
    try await client.expect(#""r":1,"#)
    for id in 2..<30 {
      try await client.expect(#"{"p":"a/n","d":\#(id)}"#)
      try await client.expect(#""r":\#(id),"#)
    }
  }

  @Test("Messages received before a disconnect take effect, even if parsing takes time")
  func lastWords() async throws {
    let server = try await DatabaseServer.startForTest()
    let watcher = try await server.connectAndGreet()
    try await watcher.ask(1, "q", #"{"p":"/last","h":""}"#)
    let client = try await server.connectAndGreet()
    client.send(request(1, "o", #"{"p":"/last","d":"gone"}"#))
    client.send(request(2, "p", #"{"p":"/a","d":{"t":"\#(Self.text)"}}"#))
    client.send(request(3, "p", #"{"p":"/last","d":"said"}"#))
    client.close()
    try await watcher.expect(#""d":"said""#)
    try await watcher.expect(#""d":"gone""#)
  }
}
