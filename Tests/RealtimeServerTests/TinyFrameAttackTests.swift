import RealtimeServer
import TestSupport
import Testing

/// Clients that send much of what costs them nothing, over several connections.
@Suite("Tiny frames and requests", .timeLimit(.minutes(1)), .cleansUp)
struct TinyFrameAttackTests {
  @Test(
    "Pings and keep-alives are read at the pace of their network",
    arguments: [9 as UInt8, 10, 1]
  )
  func frames(opcode: UInt8) async throws {
    let server = try await DatabaseServer.startForTest()
    var sockets: [RawWebSocket] = []
    for _ in 0..<6 { sockets.append(try await RawWebSocket(server.address)) }
    for socket in sockets { try await socket.expect(#""t":"h""#) }
    let start = ContinuousClock.now
    for socket in sockets {
      // No connection sends more at a time than one alone may.
      for _ in 0..<64 { socket.send(opcode, opcode == 1 ? [0x30] : []) }
      socket.send(#"{"t":"d","d":{"r":1,"a":"s","b":{"c":{}}}}"#)
    }
    for socket in sockets {
      while try await !socket.next().contains(#""r":1"#) {}
    }
    // 56 of each count, and of these 336 the first 256 may come at once.
    #expect(.now - start >= .milliseconds(700))
  }

  @Test("Requests sent without waiting are answered at the pace of their network")
  func requests() async throws {
    let server = try await DatabaseServer.startForTest()
    var probes: [HTTPProbe] = []
    for _ in 0..<6 { probes.append(try await HTTPProbe(server.address)) }
    let start = ContinuousClock.now
    let request = HTTPProbe.text("OPTIONS", "*")
    for probe in probes { probe.send(String(repeating: request, count: 80)) }
    for probe in probes {
      for _ in 0..<80 { try await probe.answer(gives: 200) }
    }
    // All but the last of each read count, with 3 ms beyond the first 128. That is a second if each
    // connection is read at once; a busy machine reads it in more pieces.
    #expect(.now - start >= .milliseconds(500))
  }
}
