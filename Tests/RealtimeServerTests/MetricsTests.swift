import NIOCore
import RealtimeCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@testable import RealtimeServer

@Suite("Server metrics", .timeLimit(.minutes(1)), .cleansUp)
struct MetricsTests {
  private static let path = "/.info/metrics.json"

  @Test("show administrators, and nobody else, the work done")
  func endpoint() async throws {
    let directory = try TemporaryDirectory()
    let socket = directory.file("s")
    let server = try await DatabaseServer.start(.init(socketPath: socket, port: 0, rules: .open))
      .endingWithTest()
    let client = try await server.connectAndGreet()
    try await client.ask(1, "q", #"{"p":"/a","h":""}"#)
    for number in 2...4 {
      try await client.ask(number, "p", #"{"p":"/b","d":\#(number)}"#)
    }
    client.send(#"{"t":"d","d":{"r":5,"a":"p","b":{}}}"#)
    _ = try await client.next()
    let port = try await HTTPProbe(server.address)
    try await port.request("GET", Self.path, gives: 401)
    let bearer = ["Authorization: Bearer owner"]
    try await port.request("GET", Self.path, lines: bearer, gives: 401)
    let local = try await HTTPProbe(.unix(path: socket))
    let refusal = try await local.request("PUT", Self.path, "1", gives: 405)
    #expect(refusal.lines["allow"] == "GET, HEAD, OPTIONS")
    let json = try JSONParser.parse(try await local.request("GET", Self.path).body)
    let numbers = try #require(json["databases"]?["hearth"])
    #expect(json["connections"] == .integer(1))
    #expect(numbers["connections"] == .integer(1))
    #expect(numbers["listens"] == .integer(1))
    #expect(numbers["requests"] == .object(("listen", .integer(1)), ("write", .integer(3))))
    #expect(numbers["undecodableMessages"] == .integer(1))
    #expect(numbers["commits"] == .integer(3))
    #expect(numbers["revision"] == .integer(3))
    #expect(numbers["batchCommits"]?["count"] == .integer(3))
    #expect(numbers["acknowledgeMicroseconds"]?["count"] == .integer(3))
  }

  @Test("are read by Prometheus: each sample has a type and a help, and labels are escaped")
  func text() async throws {
    let directory = try TemporaryDirectory()
    let socket = directory.file("s")
    var options = DatabaseServer.Options(socketPath: socket, port: 0, rules: .open)
    options.version = #"1.0 "\beta""#
    let server = try await DatabaseServer.start(options).endingWithTest()
    let client = try await server.connectAndGreet()
    try await client.ask(1, "p", #"{"p":"/b","d":1}"#)
    #expect(try await HTTPProbe(server.address).request("GET", "/metrics").status == 401)
    let answer = try await HTTPProbe(.unix(path: socket)).request("GET", "/metrics")
    #expect(answer.status == 200)
    let samples = try PrometheusReader.read(answer.body)
    #expect(samples["hearth_build_info"]?[["version": #"1.0 "\beta""#]] == 1)
    let database = ["database": "hearth"]
    #expect(samples["hearth_database_commits_total"]?[database] == 1)
    #expect(samples["hearth_database_acknowledge_seconds_count"]?[database] == 1)
    #expect(
      samples["hearth_database_requests_total"]?[["database": "hearth", "kind": "write"]] == 1
    )
  }

  @Test("Labels and helps may contain anything")
  func escapes() throws {
    for value in ["", "a", "\"", "\\", "\n", "\\n", "a\"b\\\nc", "é{}=,"] {
      var page = PrometheusText()
      page.family("x_seconds", .gauge, value)
      page.sample("x_seconds", ["first": value, "second": "s"], 0.25)
      let samples = try PrometheusReader.read(page.text)
      #expect(samples["hearth_x_seconds"] == [["first": value, "second": "s"]: 0.25])
    }
  }

  @Test("are readable over a WebSocket by administrators and nobody else")
  func overWebSocket() async throws {
    let directory = try TemporaryDirectory()
    let server = try await DatabaseServer.start(
      .init(socketPath: directory.file("s"), port: 0, rules: .open)
    ).endingWithTest()
    let get = #"{"t":"d","d":{"r":7,"a":"g","b":{"p":"/.info/metrics","q":{}}}}"#
    let administrator = try await server.connectAndGreet()
    administrator.send(get)
    let answer = try JSONParser.parse(try await administrator.next())["d"]
    #expect(answer?["r"] == .integer(7))
    #expect(answer?["b"]?["s"] == .string("ok"))
    #expect(answer?["b"]?["d"]?["connections"] == .integer(1))
    let numbers = answer?["b"]?["d"]?["databases"]?["hearth"]
    #expect(numbers?["requests"] == .object(("get", .integer(1))))
    #expect(numbers?["storeFailure"] == .null)
    try await administrator.ask(8, "gauth", #"{"cred":"","authvar":{"uid":"ann"}}"#)
    let user = try await server.connect(to: "hearth")
    try await user.expect("\"t\":\"h\"")
    for client in [administrator, user] {
      client.send(get)
      #expect(
        try await client.next()
          == #"{"t":"d","d":{"r":7,"b":{"s":"permission_denied","d":"Permission denied"}}}"#
      )
    }
  }

  @Test("give quantiles accurate to within an eighth")
  func histogram() {
    var random = SplitMix64(seed: 7)
    var histogram = Histogram()
    var values: [Int] = []
    for _ in 0..<5_000 {
      let value = random.below(1 << (1 + random.below(40)))
      values.append(value)
      histogram.record(value)
    }
    values.sort()
    #expect(histogram.count == 5_000 && histogram.maximum == values.last)
    #expect(histogram.sum == values.reduce(0, +))
    for share in [0.01, 0.5, 0.9, 0.99, 1.0] {
      let exact = values[Int((5_000 * share).rounded(.up)) - 1]
      let found = histogram.quantile(share)
      #expect(found >= exact && found <= exact + exact / 8 + 1, "\(share): \(exact) \(found)")
    }
  }

  @Test("are zero without values")
  func emptyHistogram() {
    var histogram = Histogram()
    #expect(histogram.quantile(0.5) == 0)
    histogram.record(-3)
    #expect(histogram.maximum == 0 && histogram.count == 1)
  }

  @Test("measure the wait of a write until the end of its batch")
  func writeProgress() {
    var writes = WriteProgress(lineage: nil)
    let start = NIODeadline.uptimeNanoseconds(0)
    writes.arrived(at: start)
    writes.taken(CommitBatch(commits: []))
    writes.arrived(at: start + .seconds(2))
    #expect(writes.stored(1, at: start + .seconds(3)) == [.seconds(3)])
    writes.taken(CommitBatch(commits: []))
    writes.arrived(at: start + .seconds(3))
    writes.taken(CommitBatch(commits: []))
    writes.arrived(at: start + .seconds(5))
    #expect(writes.stored(2, at: start + .seconds(6)) == [.seconds(4), .seconds(3)])
    writes.taken(CommitBatch(commits: []))
    writes.failed(because: StoreError(.full, description: "full"))
    #expect(writes.stored(1, at: start + .seconds(7)) == [])
  }
}

@Suite("A token bucket")
struct TokenBucketTests {
  private func delays(_ bucket: inout TokenBucket, _ times: Int64...) -> [Int64] {
    var delays: [Int64] = []
    for time in times { delays.append(bucket.take(at: time)) }
    return delays
  }

  @Test("allows a burst, then a steady rate")
  func rate() {
    var bucket = TokenBucket(perSecond: 10, burst: 5, now: 0)
    let taken = delays(&bucket, 0, 0, 0, 0, 0, 0, 0, 300, 300)
    #expect(taken == [0, 0, 0, 0, 0, 100, 200, 0, 100])
  }

  @Test("never exceeds its capacity and tolerates a clock that is set back")
  func bounds() {
    var bucket = TokenBucket(perSecond: 10, burst: 2, now: 1_000)
    let taken = delays(&bucket, 100_000, 100_000, 50_000)
    #expect(taken == [0, 0, 100])
    let isFull = [bucket.isFull(at: 50_000), bucket.isFull(at: 50_250), bucket.isFull(at: 50_301)]
    #expect(isFull == [false, false, true])
  }
}

@Suite("A memory gauge")
struct MemoryGaugeTests {
  @Test("reports when memory exceeds the limit", arguments: [(10, true), (11, false), (0, false)])
  func limit(mebibytes: Int, isExhausted: Bool) {
    var gauge = MemoryGauge(limit: mebibytes) { 11 }
    let found = gauge.isExhausted(at: 0)
    #expect(found == isExhausted)
    #expect(ResidentMemory.mebibytes() > 0)
  }
}

/// Reads Prometheus' text format as its documentation describes it, and nothing beyond it.
enum PrometheusReader {
  struct Malformed: Error {
    let line: String
  }

  /// The samples by name and labels.
  static func read(_ text: String) throws -> [String: [[String: String]: Double]] {
    var samples: [String: [[String: String]: Double]] = [:]
    var types: [String: String] = [:]
    var helps: Set<String> = []
    guard text.hasSuffix("\n") else { throw Malformed(line: text) }
    for line in text.split(separator: "\n").map(String.init) {
      if line.hasPrefix("#") {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard words.count == 4 else { throw Malformed(line: line) }
        let name = String(words[2])
        switch words[1] {
        case "HELP": guard helps.insert(name).inserted else { throw Malformed(line: line) }
        case "TYPE":
          guard types[name] == nil, ["counter", "gauge", "summary"].contains(words[3]) else {
            throw Malformed(line: line)
          }
          types[name] = String(words[3])
        case _: throw Malformed(line: line)
        }
        continue
      }
      let (name, labels, value) = try sample(line)
      let family =
        ["_sum", "_count"].filter { name.hasSuffix($0) }
        .map { String(name.dropLast($0.count)) }.first { types[$0] == "summary" } ?? name
      guard let type = types[family], helps.contains(family),
        (type == "counter") == name.hasSuffix("_total"),
        samples[name, default: [:]].updateValue(value, forKey: labels) == nil
      else { throw Malformed(line: line) }
    }
    return samples
  }

  private static func sample(_ line: String) throws -> (String, [String: String], Double) {
    var rest = Substring(line)
    let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    rest.removeFirst(name.count)
    var labels: [String: String] = [:]
    if rest.first == "{" {
      repeat {
        rest.removeFirst()
        let key = rest.prefix { $0.isLetter || $0 == "_" }
        rest.removeFirst(key.count)
        guard rest.hasPrefix("=\"") else { throw Malformed(line: line) }
        rest.removeFirst(2)
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
          guard character == "\\" else {
            value.append(character)
            continue
          }
          switch rest.popFirst() {
          case "n": value.append("\n")
          case "\\": value.append("\\")
          case "\"": value.append("\"")
          case _: throw Malformed(line: line)
          }
        }
        labels[String(key)] = value
      } while rest.first == ","
      guard rest.popFirst() == "}" else { throw Malformed(line: line) }
    }
    guard rest.popFirst() == " ", let value = Double(rest) else { throw Malformed(line: line) }
    return (String(name), labels, value)
  }
}
