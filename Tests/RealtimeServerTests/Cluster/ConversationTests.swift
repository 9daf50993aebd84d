import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing

@testable import RealtimeServer

/// What the next leader is told, request by request.
@Suite("Conversations of clients")
struct ConversationTests {
  @Test("A conversation goes as it is written", arguments: Transcript.all(in: "Conversations"))
  func asWritten(_ conversation: Transcript) throws {
    try conversation.expect(with: ResumedPlayer.self)
  }

  @Test("A write without a key is resent under the key that it was first sent with")
  func keys() throws {
    var talk = Conversation()
    var other = Conversation()
    let texts = [
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/n","d":{".sv":{"increment":1}}}}}"#,
      #"{"d":{"b":{"d":{"a":"}"},"p":"/m"} ,"a":"m","r":2},"t":"d"}"#,
      #"{"t":"d","d":{"r":3,"a":"p","b":{"p":"/n","d":1,"h":"x","i":"mine:7"}}}"#,
    ]
    func say(_ text: String, in conversation: inout Conversation) -> String {
      var bytes = Array(text.utf8)
      _ = conversation.said(&bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    let sent = texts.map { say($0, in: &talk) } + [say(texts[0], in: &other)]
    for _ in 1...2 {
      let resent = talk.resume { _ in nil }.map(ResumedPlayer.text)
      #expect(resent == Array(sent.prefix(3)))
    }
    let writes = try sent.compactMap { text -> WriteRequest? in
      let message = try ClientMessage(decoding: Array(text.utf8))
      return if case .request(_, .write(let write)) = message { write } else { nil }
    }
    #expect(Set(writes.compactMap(\.key)).count == 4)
    // Its owner is the same after a sign-in.
    #expect(writes[0].key?.isBearer == true)
    #expect(writes[1].operation == .merge([Change("a", to: .leaf(.string("}")))]))
    #expect(writes[2].key == WriteKey(client: "mine", number: 7))
  }

  @Test("Every kind of server message is recognized at a glance")
  func glances() {
    func glance(_ message: ServerMessage) -> ServerMessage.Glance {
      EncodedMessage(message.encoded())
        .withBeginning(upTo: ServerMessage.glanceBytes, ServerMessage.glance(at:))
    }
    let long = Node.leaf(.string(String(repeating: "1", count: 100_000)))
    let hello = ServerHello(timestamp: 1, host: "h", session: "s")
    #expect(glance(.hello(hello)) == .hello)
    for id: Int64 in [0, 7, -1, -9_000_000_000, .max] {
      #expect(glance(.response(id: id, ServerMessage.Response(.ok))) == .response(id: id))
      let answer = ServerMessage.Response(.ok, payload: .node(long))
      #expect(glance(.response(id: id, answer)) == .response(id: id))
    }
    #expect(glance(.push(.listenRevoked(path: .root, queries: nil))) == .listenRevoked)
    #expect(glance(.push(.data(path: .root, long, tag: nil))) == .other)
    #expect(
      glance(.push(.authenticationRevoked(.expiredToken, reason: ""))) == .authenticationRevoked
    )
    #expect(glance(.push(.appCheckRevoked(.expiredToken, reason: ""))) == .other)
    for message in [ServerMessage.pong, .reset(host: "h"), .shutdown(reason: "r"), .error("e")] {
      #expect(glance(message) == .other)
    }
  }
}

/// Plays the lines of a ``Transcript`` to a conversation.
///
///     say TEXT, excess ID       what the client says, and a request that was too long
///     answer ID [STATUS]        the answer of who leads, and what the client hears of it
///     revoked PATH, signed out  what ends without a request
///     resume [PATH]             what the next leader is told; the data at PATH is known
///     awaited, scheduled        whether an answer is to come, whether writes are scheduled
private struct ResumedPlayer: TranscriptPlayer {
  private var talk = Conversation()

  static func isStart(_ line: String) -> Bool { false }

  init(_ lines: [String]) {}

  mutating func outcome(of line: String) throws -> Transcript.Outcome {
    let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = parts.count > 1 ? parts[1] : ""
    let words = rest.split(separator: " ").map(String.init)
    switch parts[0] {
    case "say":
      var bytes = Array(rest.utf8)
      let isRequest = talk.said(&bytes)
      return Transcript.Outcome(answer: isRequest ? nil : "no request")
    case "excess": talk.saidTooMuch(as: Int64(rest) ?? 0)
    case "answer":
      let id = Int64(words[0]) ?? 0
      let status = words.count > 1 ? StatusCode(words[1]) : .ok
      let answer = talk.answered(id) { .response(id: id, ServerMessage.Response(status)) }
      return Transcript.Outcome(answer: Self.text(answer))
    case "revoked": talk.revoked(.push(.listenRevoked(path: Path(wire: rest), queries: nil)))
    case "signed": talk.signedOut()
    case "resume":
      let steps = talk.resume { !rest.isEmpty && $0.path == Path(wire: rest) ? "known" : nil }
      return Transcript.Outcome(lines: steps.map { "= " + Self.text($0) })
    case "awaited": return Transcript.Outcome(answer: "\(talk.awaitsAnswer)")
    case "scheduled":
      let may = talk.mayHaveScheduled ? "perhaps" : "no"
      return Transcript.Outcome(answer: talk.hasScheduled ? "yes" : may)
    default: throw Transcript.UnknownLine(text: line)
    }
    return Transcript.Outcome()
  }

  private static func text(_ answer: Conversation.Answer) -> String {
    switch answer {
    case .passes: "passes"
    case .isDropped: "dropped"
    case .isReplaced(let message): String(decoding: message.encoded(), as: UTF8.self)
    }
  }

  static func text(_ step: Conversation.Step) -> String {
    switch step {
    case .message(let bytes): String(decoding: bytes, as: UTF8.self)
    case .excess(let id): "excess \(id)"
    }
  }
}
