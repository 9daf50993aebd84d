import NIOCore
import Testing
import TransportTestSupport

@testable import RealtimeTransport

@Suite("PollingSession")
struct PollingSessionTests {
  private typealias Output = PollingSession.Output

  private let now = NIODeadline.uptimeNanoseconds(0)

  private func session(share: Int = 64 * 1_024, messageBytes: Int = 1 << 20) -> PollingSession {
    var session = PollingSession(share: share)
    session.messageBytes = messageBytes
    _ = session.start(callback: "1", id: "i", password: "p")
    return session
  }

  /// The pieces of a message, numbered from a number on.
  private func pieces(_ text: String, from first: Int = 0, of bytes: Int = 8) -> [PollRequest.Piece]
  {
    let encoded = Array(PollingText.encode(text))
    let starts = Array(stride(from: 0, to: max(1, encoded.count), by: bytes))
    return starts.enumerated().map { index, start in
      PollRequest.Piece(
        number: first + index,
        total: starts.count,
        text: String(encoded[start..<min(start + bytes, encoded.count)])
      )
    }
  }

  private func text(_ output: Output) -> String? {
    switch output {
    case .answer(_, let script): String(decoding: script, as: UTF8.self)
    case .message(let bytes): String(decoding: bytes, as: UTF8.self)
    case .excess, .wants, .violation, .closed: nil
    }
  }

  private func isViolation(_ outputs: [Output]) -> Bool {
    outputs.contains { if case .violation = $0 { true } else { false } }
  }

  @Test("The first response defines the functions and contains the first list")
  func start() {
    var session = PollingSession(share: 0)
    session.send(Array("{}".utf8))
    let (script, isClosed) = session.start(callback: "7", id: "i", password: "p")
    let lines = String(decoding: script, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 4 && !isClosed)
    #expect(lines[0] == "function pLPCommand(c,a,b){parent.pLPCommand7&&parent.pLPCommand7(c,a,b)}")
    #expect(lines[1] == "function pRTLPCB(n,l){parent.pRTLPCB7&&parent.pRTLPCB7(n,l)}")
    #expect(lines[2] == #"pLPCommand("start","i","p");"#)
    #expect(lines[3] == "pRTLPCB(0,[{}]);")
  }

  @Test("Pieces are reordered, whichever request arrives first", arguments: [true, false])
  func order(isReversed: Bool) {
    var session = session()
    var all = pieces("{\"first\":\"message\"}") + pieces("{\"second\":1}", from: 4)
    #expect(all.count == 6)
    if isReversed { all.reverse() }
    var messages: [String] = []
    for (index, piece) in all.enumerated() {
      for output in session.receive(index, serial: index, pieces: [piece], at: now) {
        if case .message = output { messages.append(text(output) ?? "") }
      }
    }
    #expect(messages == ["{\"first\":\"message\"}", "{\"second\":1}"])
    #expect(session.unfinishedSince == nil)
  }

  @Test("The older of two requests is answered at once, whichever arrives first")
  func older() {
    for serials in [[1, 2], [2, 1]] {
      var session = session()
      #expect(session.receive(serials[0], serial: serials[0], pieces: [], at: now).isEmpty)
      let outputs = session.receive(serials[1], serial: serials[1], pieces: [], at: now)
      #expect(outputs == [.answer(1, Array("pRTLPCB(1,[]);\n".utf8))])
      #expect(session.isAwaited)
    }
  }

  @Test("A repeated request gets the same response, and its pieces count once")
  func replay() {
    var session = session()
    let first = session.receive(1, serial: 1, pieces: pieces("a"), at: now)
    #expect(first == [.message(Array("a".utf8))])
    // While it waits, the repeated request takes its place.
    #expect(session.receive(2, serial: 1, pieces: pieces("a"), at: now) == [.answer(1, [])])
    session.send(Array("5".utf8))
    let answer = Output.answer(2, Array("pRTLPCB(1,[5]);\n".utf8))
    #expect(session.flush() == [answer])
    #expect(
      session.receive(3, serial: 1, pieces: pieces("a"), at: now)
        == [.answer(3, Array("pRTLPCB(1,[5]);\n".utf8))]
    )
  }

  @Test("Numbers far out of sequence end the session")
  func farAhead() {
    var far = session()
    _ = far.receive(1, serial: 5, pieces: [], at: now)
    #expect(isViolation(far.receive(2, serial: 1_000_000, pieces: [], at: now)))
    for number in [5_000, 999_999_999_999_999] {
      var session = session()
      let piece = PollRequest.Piece(number: number, total: 1, text: "YQ..")
      #expect(isViolation(session.receive(1, serial: 1, pieces: [piece], at: now)))
    }
    var gaps = session()
    let many = (1...600).map { PollRequest.Piece(number: $0, total: 1, text: "YQ..") }
    #expect(isViolation(gaps.receive(1, serial: 1, pieces: many, at: now)))
    var long = session()
    let text = String(repeating: "A", count: 70_000)
    let piece = PollRequest.Piece(number: 1, total: 1, text: text)
    #expect(isViolation(long.receive(1, serial: 1, pieces: [piece], at: now)))
  }

  @Test("Pieces that do not form a message end the session")
  func noMessage() {
    let first = PollRequest.Piece(number: 0, total: 2, text: "YQ..")
    for second in [
      PollRequest.Piece(number: 1, total: 3, text: "YQ.."),
      PollRequest.Piece(number: 1, total: 2, text: "Y<Q"),
      PollRequest.Piece(number: 1, total: 2, text: "YQ"),
    ] {
      var session = session()
      #expect(isViolation(session.receive(1, serial: 1, pieces: [first, second], at: now)))
    }
  }

  @Test("A message that is too long is skipped, and its request is answered")
  func excess() {
    var session = session(messageBytes: 40)
    let long =
      #"{"t":"d","d":{"r":17,"a":"p","b":{"p":"a","d":"\#(String(repeating: "x", count: 90))"}}}"#
    let all = pieces(long, of: 12)
    #expect(
      session.receive(1, serial: 1, pieces: all + pieces("b", from: all.count), at: now)
        == [.excess(17), .message(Array("b".utf8))]
    )
    let unnumbered = pieces(String(repeating: "x", count: 90), from: all.count + 1)
    #expect(isViolation(session.receive(2, serial: 2, pieces: unnumbered, at: now)))
    // However many pieces are announced, nothing is kept for them.
    var huge = self.session(messageBytes: 40)
    let piece = PollRequest.Piece(number: 0, total: 999_999_999_999_999, text: "YWFh")
    #expect(huge.receive(1, serial: 1, pieces: [piece], at: now) == [])
  }

  @Test("A long message waits for memory, and so do the pieces behind it")
  func memory() {
    var session = session(share: 10)
    let text = String(repeating: "x", count: 60)
    let all = pieces(text, of: 20)
    #expect(
      session.receive(1, serial: 1, pieces: all + pieces("b", from: all.count), at: now)
        == [.wants(bytes: 72)]
    )
    session.memoryFound(72)
    #expect(
      session.memoryGranted(at: now) == [.message(Array(text.utf8)), .message(Array("b".utf8))]
    )
  }

  @Test("While the session is paused, nothing is delivered and the client waits")
  func pause() {
    var session = session()
    #expect(session.setPaused(true, at: now).isEmpty)
    #expect(session.receive(1, serial: 1, pieces: pieces("a"), at: now).isEmpty)
    #expect(session.receive(2, serial: 2, pieces: pieces("b", from: 1), at: now).isEmpty)
    // Output leaves nevertheless, and no request waits for ever.
    session.send(Array("5".utf8))
    #expect(session.flush() == [.answer(1, Array("pRTLPCB(1,[5]);\n".utf8))])
    #expect(session.expire(2) == [.answer(2, Array("pRTLPCB(2,[]);\n".utf8))])
    #expect(
      session.setPaused(false, at: now) == [.message(Array("a".utf8)), .message(Array("b".utf8))]
    )
  }

  @Test("A third request leaves only one other waiting")
  func third() {
    var session = session()
    _ = session.setPaused(true, at: now)
    for token in 1...2 {
      #expect(session.receive(token, serial: token, pieces: [], at: now).isEmpty)
    }
    #expect(
      session.receive(3, serial: 3, pieces: [], at: now)
        == [.answer(1, Array("pRTLPCB(1,[]);\n".utf8))]
    )
  }

  @Test("Long output is split into several lists, but no message is split")
  func longOutput() {
    var session = session()
    let message = [UInt8](repeating: UInt8(ascii: "1"), count: 600_000)
    for _ in 0..<3 { session.send(message) }
    session.send(Array("5".utf8))
    #expect(session.queuedBytes == 1_800_001)
    var lists: [String] = []
    for token in 1...2 {
      _ = session.receive(token, serial: token, pieces: [], at: now)
      lists += session.flush().compactMap(text)
    }
    #expect(lists.map(\.count) == [1_200_016, 600_017])
    #expect(session.queuedBytes == 0)
  }

  @Test("The close command follows pending output, with the number of the last list")
  func close() {
    var session = session()
    session.send(Array("5".utf8))
    #expect(session.close().isEmpty)
    session.send(Array("6".utf8))
    _ = session.receive(1, serial: 1, pieces: [], at: now)
    #expect(
      session.flush()
        == [.answer(1, Array("pRTLPCB(1,[5]);\npLPCommand(\"close\",1);\n".utf8)), .closed]
    )
    #expect(
      session.receive(2, serial: 2, pieces: [], at: now)
        == [.answer(2, Array("pLPCommand(\"close\");\n".utf8))]
    )
  }

  @Test("An unfinished message is timed from its first piece, or its last for patient sessions")
  func unfinished() {
    let later = now + .seconds(5)
    for isPatient in [false, true] {
      var session = session()
      session.isPatient = isPatient
      let all = pieces("{\"some\":\"message\"}")
      _ = session.receive(1, serial: 1, pieces: [all[0]], at: now)
      #expect(session.unfinishedSince == now)
      _ = session.receive(2, serial: 2, pieces: [all[1]], at: later)
      #expect(session.unfinishedSince == (isPatient ? later : now))
    }
  }

  @Test("Untrusted text cannot break out of its script")
  func escapes() {
    var script = PollScript()
    let json =
      "{\"</script>\":\"<!--&\u{2028}\u{2029}é\",\"__proto__\":{\"__proto__\":1},\"a\":\",\\\"__proto__\\\":\"}"
    script.list(1, [Array(json.utf8)])
    #expect(
      String(decoding: script.bytes, as: UTF8.self)
        == "pRTLPCB(1,[{\"\\u003c/script\\u003e\":\"\\u003c!--\\u0026\\u2028\\u2029é\","
        + "[\"__proto__\"]:{[\"__proto__\"]:1},\"a\":\",\\\"__proto__\\\":\"}]);\n"
    )
  }

  @Test(
    "A well-formed query is parsed as a request",
    arguments: [
      "start=t&cb=1", "start=t", "start=t&cb=a_B9", "id=a&pw=b&ser=0", "id=a&pw=b&disconn=t",
      "id=a&pw=b&dframe=t", "id=a&pw=b&ser=1&seg0=0&ts0=1&d0=",
    ]
  )
  func requests(query: String) {
    #expect(PollRequest(HTTPRequest.parameters(of: query)) != nil)
  }

  @Test(
    "A malformed query is rejected",
    arguments: [
      "", "start=t&cb=1;alert(1)", "start=t&cb=%3C", "start=t&cb=é", "start=t&cb=a.b", "id=a&ser=1",
      "start=t&cb=123456789012345678901234567890123", "id=a&pw=b", "id=a&pw=b&ser=-1",
      "id=a&pw=b&ser=1234567890123456", "id=a&pw=b&ser=1&d0=YQ..",
      "id=a&pw=b&ser=1&seg0=0&ts0=0&d0=YQ..", "id=a&pw=b&ser=1&seg0=x&ts0=1&d0=YQ..",
    ]
  )
  func noRequests(query: String) {
    #expect(PollRequest(HTTPRequest.parameters(of: query)) == nil)
  }
}
