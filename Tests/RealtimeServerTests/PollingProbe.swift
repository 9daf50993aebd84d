import Foundation
import RealtimeServer
import RealtimeTransport
import TransportTestSupport

/// A long-polling client outside a browser, which makes one request after the other.
actor PollingProbe {
  struct Unexpected: Error {
    let body: String
  }

  nonisolated let address: ListenAddress
  nonisolated let ticket: String
  /// The parameter with the database.
  nonisolated let database: String
  private(set) var serial = 0
  private var piece = 0
  /// The messages that have arrived and have not been read, each with the number of its list.
  private var messages: [(list: Int, text: String)] = []
  private(set) var lists = 0
  /// The command to close, once it has arrived.
  private(set) var close: String?

  /// Begins a session.
  init(_ address: ListenAddress, database: String = "", lines: [String] = []) async throws {
    self.address = address
    self.database = database
    let answer = try await HTTPProbe(address).request(
      "GET",
      "/.lp?start=t&ser=77&cb=1&v=5\(database)",
      lines: lines
    )
    guard let start = answer.body.firstMatch(of: /pLPCommand\("start","(\w{20,})","(\w{20,})"\);/)
    else { throw Unexpected(body: answer.body) }
    ticket = "id=\(start.1)&pw=\(start.2)"
    receive(answer.body)
  }

  /// The session's name in the greeting.
  func session() async throws -> String {
    let greeting = try await next()
    guard let name = greeting.firstMatch(of: /"s":"(\w+)"/) else {
      throw Unexpected(body: greeting)
    }
    return String(name.1)
  }

  /// The parameters that carry messages, cut into pieces.
  func pieces(of texts: [String], bytes: Int = 1_840) -> [String] {
    texts.flatMap { text -> [String] in
      let encoded = Array(PollingText.encode(text))
      let starts = Array(stride(from: 0, to: encoded.count, by: bytes))
      return starts.map { start in
        defer { piece += 1 }
        let part = String(encoded[start..<min(start + bytes, encoded.count)])
        return "&seg#=\(piece)&ts#=\(starts.count)&d#=\(part)"
      }
    }
  }

  /// The target of the next request.
  func target(_ pieces: some Sequence<String> = []) -> String {
    serial += 1
    let parameters = pieces.enumerated().map {
      $1.replacingOccurrences(of: "#", with: "\($0)")
    }
    return "/.lp?\(ticket)&ser=\(serial)\(database)\(parameters.joined())"
  }

  /// Makes a request, and takes what its answer brings.
  func request(_ target: String) async throws {
    receive(try await HTTPProbe(address).request("GET", target).body)
  }

  /// Sends messages while no other request waits; takes what the answers bring.
  func send(_ texts: String...) async throws {
    let all = pieces(of: texts)
    var previous: Task<Void, any Error>?
    // Four pieces fit into the longest header of a request.
    for start in stride(from: 0, to: all.count, by: 4) {
      let target = target(all[start..<min(start + 4, all.count)])
      let next = Task { try await request(target) }
      // It is answered because another one has come.
      try await previous?.value
      previous = next
    }
    try await previous?.value
  }

  /// Takes what an answer brings.
  func receive(_ body: String) {
    for line in body.split(separator: "\n") {
      if let list = line.wholeMatch(of: /pRTLPCB\((\d+),(\[.*\])\);/) {
        lists += 1
        let json = try? JSONSerialization.jsonObject(with: Data(list.2.utf8)) as? [Any]
        let texts = (json ?? []).compactMap {
          (try? JSONSerialization.data(withJSONObject: $0, options: .sortedKeys)).map {
            String(decoding: $0, as: UTF8.self)
          }
        }
        // The answers to two requests may overtake each other.
        let number = Int(list.1) ?? 0
        let place = messages.firstIndex { $0.list > number } ?? messages.endIndex
        messages.insert(contentsOf: texts.map { (list: number, text: $0) }, at: place)
      } else if line.hasPrefix("pLPCommand(\"close\"") {
        close = String(line)
      }
    }
  }

  /// The next message, with sorted members; polls until one comes.
  func next() async throws -> String {
    while messages.isEmpty {
      guard close == nil else { throw Unexpected(body: close ?? "") }
      try await request(target())
    }
    return messages.removeFirst().text
  }
}
