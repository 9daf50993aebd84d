import Dispatch
import Logging
import NIOConcurrencyHelpers
import RealtimeCore
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

/// Readers who ask for expensive pages.
@Suite("Expensive pages", .timeLimit(.minutes(1)), .cleansUp)
struct PageAttackTests {
  /// Pages that count how often they are rendered, and can be made to wait.
  private struct Pages: PageSource {
    let rendered = NIOLockedValueBox<[String]>([])
    let gate = DispatchSemaphore(value: 0)

    func owns(_ path: String) -> Bool { path.hasPrefix("/page") }

    func page(for request: PageRequest) -> PageStep {
      let name = request.segments.last ?? ""
      return .read([PageRead("a")]) { data in
        .render {
          rendered.withLockedValue { $0.append(name) }
          if name == "page-slow" { gate.wait() }
          return Page(contentType: "text/plain", body: Array("\(data)".utf8), lifetime: 1)
        }
      }
    }
  }

  private func start(
    _ pages: Pages,
    socketPath: String? = nil,
    logger: Logger = Logger(label: "test")
  ) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(socketPath: socketPath, port: 0, rules: .open)
    options.pages = pages
    return try await DatabaseServer.start(options, logger: logger).endingWithTest()
  }

  @Test("A page is rendered once for the same data, whoever requests it")
  func kept() async throws {
    let pages = Pages()
    let server = try await start(pages)
    let http = try await HTTPProbe(server.address)
    _ = try await http.request("PUT", "/a.json", "1")
    let first = try await http.request("GET", "/page")
    for _ in 0..<5 { try await http.request("GET", "/page", gives: first.body) }
    #expect(pages.rendered.withLockedValue { $0.count } == 1)
    // Another write changes nothing, and one of the data does.
    _ = try await http.request("PUT", "/b.json", "1")
    _ = try await http.request("GET", "/page")
    #expect(pages.rendered.withLockedValue { $0.count } == 1)
    _ = try await http.request("PUT", "/a.json", "2")
    #expect(try await http.request("GET", "/page").body != first.body)
    #expect(pages.rendered.withLockedValue { $0.count } == 2)
    // An escape that is no text is left to the pages, too.
    _ = try await http.request("GET", "/page/%ff")
    #expect(pages.rendered.withLockedValue { $0.popLast() } == "%ff")
    // Pages at addresses that look alike are different ones.
    for address in ["/page?a=1&b=2", "/page?a=1%26b=2", "/page?a=1&b=2"] {
      _ = try await http.request("GET", address)
    }
    #expect(pages.rendered.withLockedValue { $0.count } == 4)
  }

  @Test("Pages of readers who have left are not rendered")
  func left() async throws {
    let pages = Pages()
    let server = try await start(pages)
    let slow = try await HTTPProbe(server.address)
    slow.send(HTTPProbe.text("GET", "/page-slow"))
    while pages.rendered.withLockedValue({ $0.isEmpty }) { await Task.yield() }
    var readers: [HTTPProbe] = []
    for number in 0..<8 {
      let reader = try await HTTPProbe(server.address)
      reader.send(HTTPProbe.text("GET", "/page\(number)"))
      readers.append(reader)
    }
    let http = try await HTTPProbe(server.address)
    _ = try await http.request("PUT", "/b.json", "1")
    for reader in readers { await reader.close() }
    // The server learns of the ends before it answers these.
    for _ in 0..<3 { _ = try await http.request("PUT", "/b.json", "1") }
    pages.gate.signal()
    try await slow.answer(gives: 200)
    try await http.request("GET", "/page-last", gives: 200)
    #expect(pages.rendered.withLockedValue { $0 } == ["page-slow", "page-last"])
  }

  @Test(
    "Neither answers nor streams are made for readers who have left",
    arguments: ["Accept: */*", "Accept: text/event-stream", "X-Firebase-ETag: true"]
  )
  func leftREST(line: String) async throws {
    let (pages, log) = (Pages(), NIOLockedValueBox<[String]>([]))
    let server = try await start(pages, logger: .collecting(log))
    let http = try await HTTPProbe(server.address)
    let value = "\"\(String(repeating: "x", count: 100_000))\""
    _ = try await http.request("PUT", "/large.json", value)
    // While a page is made, large answers wait for it.
    let slow = try await HTTPProbe(server.address)
    slow.send(HTTPProbe.text("GET", "/page-slow"))
    while pages.rendered.withLockedValue({ $0.isEmpty }) { await Task.yield() }
    var readers: [HTTPProbe] = []
    for _ in 0..<8 {
      let reader = try await HTTPProbe(server.address)
      reader.send(HTTPProbe.text("GET", "/large.json", lines: [line]))
      readers.append(reader)
    }
    for _ in 0..<3 { _ = try await http.request("PUT", "/b.json", "1") }
    for reader in readers { await reader.close() }
    // The server learns of the ends before it answers these.
    for _ in 0..<3 { _ = try await http.request("PUT", "/b.json", "1") }
    pages.gate.signal()
    try await slow.answer(gives: 200)
    try await http.request("GET", "/large.json", gives: value)
    await server.stop()
    let statuses = log.withLockedValue { lines in
      lines.filter { $0.contains(" answered ") && $0.contains("GET") }
    }
    #expect(statuses.count { $0.contains("503") } == 8, "\(statuses)")
    #expect(statuses.count { $0.contains("200") } == 2, "\(statuses)")
  }

  @Test("A reader who has ended only its side gets its answer, one who has left is given up")
  func ended() async throws {
    let (pages, directory) = (Pages(), try TemporaryDirectory())
    let path = directory.file("s")
    let server = try await start(pages, socketPath: path)
    let http = try await HTTPProbe(server.address)
    let slow = try await HTTPProbe(server.address)
    slow.send(HTTPProbe.text("GET", "/page-slow"))
    while pages.rendered.withLockedValue({ $0.isEmpty }) { await Task.yield() }
    let waiting = try await HTTPProbe(.unix(path: path))
    let leaving = try await HTTPProbe(.unix(path: path))
    let remote = try await HTTPProbe(server.address)
    remote.send(HTTPProbe.text("GET", "/page-remote"))
    waiting.send(HTTPProbe.text("GET", "/page-waiting"))
    leaving.send(HTTPProbe.text("GET", "/page-leaving"))
    for _ in 0..<3 { _ = try await http.request("PUT", "/b.json", "1") }
    await waiting.endOutput()
    await remote.endOutput()
    await leaving.close()
    // The server learns of the ends before it answers these.
    for _ in 0..<3 { _ = try await http.request("PUT", "/b.json", "1") }
    pages.gate.signal()
    try await slow.answer(gives: 200)
    try await waiting.answer(gives: 200)
    // Whether it is still there was found out by an interim answer.
    try await remote.answer(hasBody: false, gives: 100)
    try await remote.answer(gives: 200)
    let rendered = pages.rendered.withLockedValue { $0 }
    #expect(rendered.first == "page-slow")
    #expect(rendered.dropFirst().sorted() == ["page-remote", "page-waiting"])
  }
}
