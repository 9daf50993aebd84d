import Foundation
import RealtimeCore
import RealtimeTransport

extension SceneRun {
  private static let ping = #"{"t":"c","d":{"t":"p","d":{}}}"#
  private static let pong = #"{"t":"c","d":{"t":"o","d":{}}}"#

  /// Makes a client do something other than sending or expecting a message.
  func act(_ name: String, _ line: String) async throws {
    let parts = line.split(separator: " ", maxSplits: 1)
    let rest = parts.count > 1 ? String(parts[1]) : ""
    switch parts.first {
    case "opens": try await open(name, rest)
    case "connects": clients[name] = try await connect(rest)
    case "refused": try await expectRefusal(rest)
    case "streams": try await stream(name, rest)
    case "polls":
      let (target, lines) = request(rest)
      let address = ListenAddress.loopback(port: try await port())
      let poller = try await PollingProbe(address, database: target, lines: lines)
      pollers[name] = poller
      pattern.define("ticket", as: .string(poller.ticket))
    case "polled": try await expectEnd(name, rest)
    case "may": try await allow(rest, of: name)
    case "quiet": try await expectQuiet(name)
    case "segments":
      let sizes = try client(name).lastSegments
      try require("\(sizes.count)" == rest && sizes.allSatisfy { $0 <= 16_384 }, "came in \(sizes)")
    case "pings":
      let client = try client(name)
      client.send(9, Array(rest.utf8))
      let answer = try await client.frame()
      try require(answer == RawWebSocket.Frame(opcode: 10, payload: Array(rest.utf8)), "\(answer)")
    case "sends": try sendOddly(client(name), rest)
    case "closes":
      let client = try client(name)
      client.send(8, [0x03, 0xE8])
      try require(try await client.frame().opcode == 8, "the goodbye is not answered")
    case "cuts": if let stream = streams[name] { stream.cut() } else { try client(name).cut() }
    case "closed":
      let frame = try await client(name).frame()
      let code = frame.payload.prefix(2).reduce(0) { $0 << 8 | Int($1) }
      try require(frame.opcode == 8 && "\(code)" == rest, "\(frame)")
    case "ended":
      if let stream = streams[name] {
        try require(try await stream.isEnded(), "more came")
      } else {
        try require(try await client(name).isEnded(), "more came")
      }
    default: throw SceneFailure("nobody can do that")
    }
  }

  private func require(_ condition: Bool, _ description: String) throws {
    guard condition else { throw SceneFailure(description) }
  }

  /// Connects and receives the greeting, whose session is defined under the client's name.
  private func open(_ name: String, _ rest: String) async throws {
    let client = try await connect("/.ws?v=5&ns=hearth" + rest)
    clients[name] = client
    let hello = try await client.next()
    let pattern =
      #"{"t":"c","d":{"t":"h","d":{"ts":\#(greetingTime),"v":"5","h":"localhost","s":"<id>","x":["once"]}}}"#
    try require(self.pattern.matches(pattern, hello), "the greeting is \(hello)")
    let session = try JSONParser.parse(hello)["d"]?["d"]?["s"] ?? .null
    try require(!self.pattern.names.values.contains(session), "the session is another's")
    self.pattern.define(name, as: session)
  }

  /// The target and the header lines of a request, separated by semicolons.
  private func request(_ text: String) -> (target: String, lines: [String]) {
    let parts = pattern.filled(text).components(separatedBy: " ; ")
    return (parts[0], Array(parts.dropFirst()))
  }

  private func connect(_ text: String) async throws -> RawWebSocket {
    let (target, lines) = request(text)
    return try await RawWebSocket(.loopback(port: try await port()), target: target, lines: lines)
  }

  private func expectRefusal(_ text: String) async throws {
    let (start, parts) = request(text)
    let follows = parts.last.flatMap { $0.hasPrefix("then ") ? String($0.dropFirst(5)) : nil }
    let lines = follows == nil ? parts : parts.dropLast()
    let probe = try await HTTPProbe(.loopback(port: try await port()))
    probe.send(RawWebSocket.request(String(start.dropFirst(4)), lines: lines))
    let answer = try await probe.answer()
    try require("\(answer.status)" == start.prefix(3), "the answer is \(answer)")
    guard let follows else { return }
    probe.send(RawWebSocket.bytes(1, Array(follows.utf8)))
    try require(try await probe.rest().isEmpty, "what followed was answered")
  }

  /// Sends a request and leaves before its response: `METHOD TARGET BODY`.
  func abandon(_ text: String) async throws {
    let words = text.split(separator: " ", maxSplits: 2).map(String.init)
    let probe = try await HTTPProbe(.loopback(port: try await port()))
    probe.send(HTTPProbe.text(words[0], words[1], words.count > 2 ? words[2] : nil))
    await probe.close()
  }

  /// Polls once, and expects the command to close.
  private func expectEnd(_ name: String, _ command: String) async throws {
    guard let poller = pollers[name] else { throw SceneFailure("\(name) does not poll") }
    try await poller.request(poller.target())
    let close = await poller.close
    try require(close == command, "came instead: \(close ?? "nothing")")
  }

  private func stream(_ name: String, _ text: String) async throws {
    let (target, lines) = request(text)
    let stream = RESTTalk(port: try await port(), "GET", target)
    for line in lines { try await stream.take("+", line, &pattern) }
    try await stream.openStream()
    streams[name] = stream
  }

  /// Requests a pong, before which nothing else may arrive.
  private func expectQuiet(_ name: String) async throws {
    let client = try client(name)
    client.send(Self.ping)
    let message = try await client.next()
    try require(pattern.matches(Self.pong, message), "came instead: \(message)")
  }

  /// Sends unusual frames: `binary`, `unmasked`, `fragments a | b`, `bytes 81 80 …`.
  private func sendOddly(_ client: RawWebSocket, _ text: String) throws {
    let parts = text.split(separator: " ", maxSplits: 1)
    let rest = parts.count > 1 ? String(parts[1]) : ""
    switch parts.first {
    case "binary": client.send(2, Array(rest.utf8))
    case "fragments":
      let pieces = rest.components(separatedBy: " | ")
      for (index, piece) in pieces.enumerated() {
        let isLast = index == pieces.count - 1
        client.send(index == 0 ? 1 : 0, Array(piece.utf8), isFinal: isLast)
      }
    case "bytes":
      client.send(bytes: rest.split(separator: " ").compactMap { UInt8($0, radix: 16) })
    default: throw SceneFailure("nobody can send that")
    }
  }
}
