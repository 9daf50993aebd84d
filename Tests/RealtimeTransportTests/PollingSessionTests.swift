import Foundation
import NIOCore
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeTransport

@Suite("PollingSession")
struct PollingSessionTests {
  @Test("A session goes as it is written", arguments: Transcript.all(in: "Transcripts"))
  func asWritten(_ session: Transcript) throws {
    try session.expect(with: PollingPlayer.self)
  }

  @Test("The first response defines the functions and contains the first list")
  func start() {
    var session = PollingSession(share: 0)
    session.send(Array("{}".utf8))
    let (script, isClosed) = session.start(callback: "7", id: "i", password: "p")
    let expected = """
      function pLPCommand(c,a,b){parent.pLPCommand7&&parent.pLPCommand7(c,a,b)}
      function pRTLPCB(n,l){parent.pRTLPCB7&&parent.pRTLPCB7(n,l)}
      pLPCommand("start","i","p");
      pRTLPCB(0,[{}]);

      """
    #expect(String(decoding: script, as: UTF8.self) == expected)
    #expect(!isClosed)
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

/// Plays the lines of a ``Transcript`` to a session that has begun, at a clock that only they move.
///
///     share BYTES, limit BYTES, patient    what needs no promise, the longest message, no deadline
///     ask SERIAL [NUMBER/TOTAL:TEXT …]     a request with pieces; several alike are FIRST-LAST/…
///     say SERIAL SIZE TEXT [| TEXT …]      a request with the next messages, cut into pieces
///     send TEXT, flush, close, expire TOKEN    what the server does
///     pause, resume, memory BYTES          the owner wants no messages, wants them, finds memory
///     wait SECONDS, awaited, queued, unfinished    time passes; what the session says of itself
private struct PollingPlayer: TranscriptPlayer {
  private var session: PollingSession
  private var now = NIODeadline.uptimeNanoseconds(0)
  private var requests = 0
  private var pieces = 0

  static func isStart(_ line: String) -> Bool {
    line == "patient" || line.hasPrefix("share ") || line.hasPrefix("limit ")
  }

  init(_ lines: [String]) {
    func number(_ word: String) -> Int? {
      lines.first { $0.hasPrefix(word) }.flatMap { Int($0.dropFirst(word.count)) }
    }
    session = PollingSession(share: number("share ") ?? 64 * 1_024)
    session.messageBytes = number("limit ") ?? 1 << 20
    session.isPatient = lines.contains("patient")
    _ = session.start(callback: "1", id: "i", password: "p")
  }

  mutating func outcome(of line: String) throws -> Transcript.Outcome {
    let parts = line.split(separator: " ", maxSplits: 1)
    let rest = parts.count > 1 ? String(parts[1]) : ""
    var outputs: [PollingSession.Output] = []
    switch parts.first {
    case "ask":
      let words = rest.split(separator: " ")
      outputs = try receive(words.first, words.dropFirst().flatMap { try Self.pieces($0) })
    case "say":
      let words = rest.split(separator: " ", maxSplits: 2)
      let texts = words[2].components(separatedBy: " | ")
      outputs = try receive(words[0], texts.flatMap { cut($0, every: Int(words[1]) ?? 1) })
    case "send": session.send(Array(rest.utf8))
    case "flush": outputs = session.flush()
    case "close": outputs = session.close()
    case "expire": outputs = session.expire(Int(rest) ?? 0)
    case "pause": outputs = session.setPaused(true, at: now)
    case "resume": outputs = session.setPaused(false, at: now)
    case "memory":
      session.memoryFound(Int(rest) ?? 0)
      outputs = session.memoryGranted(at: now)
    case "wait": now = now + .seconds(Int64(rest) ?? 0)
    case "awaited": return Transcript.Outcome(answer: "\(session.isAwaited)")
    case "queued": return Transcript.Outcome(answer: "\(session.queuedBytes)")
    case "unfinished":
      let since = session.unfinishedSince.map { "for \((now - $0).nanoseconds / 1_000_000_000) s" }
      return Transcript.Outcome(answer: since ?? "no")
    default: throw Transcript.UnknownLine(text: line)
    }
    return Transcript.Outcome(lines: outputs.map { "= " + SceneText.shortened(Self.text($0)) })
  }

  private mutating func receive(
    _ serial: Substring?,
    _ pieces: [PollRequest.Piece]
  ) throws -> [PollingSession.Output] {
    guard let serial = serial.flatMap({ Int($0) }) else {
      throw Transcript.UnknownLine(text: "ask")
    }
    requests += 1
    return session.receive(requests, serial: serial, pieces: pieces, at: now)
  }

  private static func pieces(_ text: Substring) throws -> [PollRequest.Piece] {
    guard let piece = text.wholeMatch(of: /(\d+)(?:-(\d+))?\/(\d+):(.*)/),
      let first = Int(piece.1), let last = Int(piece.2 ?? piece.1), let total = Int(piece.3)
    else { throw Transcript.UnknownLine(text: String(text)) }
    return (first...last).map { PollRequest.Piece(number: $0, total: total, text: String(piece.4)) }
  }

  private mutating func cut(_ text: String, every bytes: Int) -> [PollRequest.Piece] {
    let encoded = Array(PollingText.encode(text))
    let starts = Array(stride(from: 0, to: encoded.count, by: bytes))
    return starts.map { start in
      defer { pieces += 1 }
      let part = encoded[start..<min(start + bytes, encoded.count)]
      return PollRequest.Piece(number: pieces, total: starts.count, text: String(part))
    }
  }

  private static func text(_ output: PollingSession.Output) -> String {
    switch output {
    case .answer(let token, []): "answer \(token) nothing"
    case .answer(let token, let script):
      "answer \(token) "
        + String(decoding: script, as: UTF8.self).split(separator: "\n").joined(separator: " ")
    case .message(let bytes): "message " + String(decoding: bytes, as: UTF8.self)
    case .excess(let id): "excess \(id)"
    case .wants(let bytes): "wants \(bytes) bytes"
    case .violation(let reason): "violation: \(reason)"
    case .closed: "closed"
    }
  }
}
