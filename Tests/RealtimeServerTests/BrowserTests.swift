import Foundation
import NIOCore
import NIOPosix
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing

/// A headless browser that shows a page and talks to nobody but this machine.
private final class Chromium {
  private static let paths = ["/usr/bin/chromium", "/usr/bin/chromium-browser"]

  private static let program = paths.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Whether it is installed; otherwise says that the tests are skipped.
  static let isInstalled: Bool = {
    if program == nil { print("SKIPPED: Chromium is not installed (apt-get install chromium)") }
    return program != nil
  }()

  private let directory: TemporaryDirectory
  private let process = Process()

  init(showing url: String) throws {
    directory = try TemporaryDirectory()
    process.executableURL = URL(fileURLWithPath: Self.program ?? "")
    process.arguments = [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync",
      "--disable-default-apps", "--disable-extensions", "--disable-popup-blocking",
      "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--no-proxy-server",
      "--user-data-dir=\(directory.path)", url,
    ]
    process.environment = [
      "HOME": directory.path, "XDG_CONFIG_HOME": directory.path, "XDG_CACHE_HOME": directory.path,
      "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
    ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  deinit {
    process.terminate()
    process.waitUntilExit()
  }
}

/// Serves the page, and receives what it reports.
private final class PageServer: Sendable {
  private let listener: ServerListener
  private let reports: AsyncStream<String>

  init() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    reports = stream
    listener = try await ServerListener.listen(
      at: .loopback(port: 0),
      on: MultiThreadedEventLoopGroup.singleton.next(),
      policy: RequestPolicy(isPublic: { _ in true }),
      handlers: ServerHandlers(
        answer: { request, loop in
          if request.method == "POST" {
            continuation.yield(String(decoding: request.body, as: UTF8.self))
          }
          return loop.makeSucceededFuture(
            .answer(
              HTTPAnswer(
                status: request.path.hasPrefix("/fav") ? 404 : 200,
                contentType: "text/html",
                body: Array(BrowserPage.text.utf8)
              )
            )
          )
        },
        accept: { _ in ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in }) }
      )
    ).get()
  }

  /// The address of the page for a part of the test.
  func url(_ part: String, of server: DatabaseServer) throws -> String {
    guard case .tcp(_, let port, _) = listener.address else { return "" }
    let database = "127.0.0.1:\(try #require(server.port))"
    return "http://127.0.0.1:\(port)/?db=\(database)&part=\(part)"
  }

  /// Waits for the page's next report.
  func expect(_ step: String) async {
    for await report in reports {
      #expect(report.contains("\"step\":\"\(step)\""), "\(report)")
      return
    }
  }

  func close() async throws { try await listener.close().get() }
}

/// Each test would wait for ever for a report that does not come.
@Suite("A browser", .enabled(if: Chromium.isInstalled), .timeLimit(.minutes(1)))
struct BrowserTests {
  private func start(port: Int = 0) async throws -> DatabaseServer {
    try await .start(.emulator(port: port))
  }

  private func value(_ server: DatabaseServer, _ path: String) async throws -> String {
    try await HTTPProbe(server.address).request("GET", "\(path)?ns=web").body
  }

  /// Waits until a scheduled write has been carried out.
  private func expectTrue(_ server: DatabaseServer, _ path: String) async throws {
    while try await value(server, path) != "true" { await Task.yield() }
  }

  @Test("A page polls where WebSockets are blocked and upgrades where they are not")
  func first() async throws {
    let (server, pages) = (try await start(), try await PageServer())
    let browser = try Chromium(showing: try pages.url("first", of: server))
    await pages.expect("listening")
    _ = try await HTTPProbe(server.address).request("PUT", "/push.json?ns=web", "\"pushed\"")
    await pages.expect("talked")
    // The end of the polling was not the end of the session.
    #expect(try await value(server, "/moved.json") == "null")
    withExtendedLifetime(browser) {}
    await server.stop()
    try await pages.close()
  }

  @Test("A closed or reloaded page leaves its session", arguments: ["tab", "reload"])
  func leaving(how: String) async throws {
    let (server, pages) = (try await start(), try await PageServer())
    let part = how == "tab" ? "closing" : "reload"
    let browser = try Chromium(showing: try pages.url(part, of: server))
    await pages.expect(how == "tab" ? "closed" : "reloaded")
    try await expectTrue(server, "/gone/\(how).json")
    withExtendedLifetime(browser) {}
    await server.stop()
    try await pages.close()
  }

  @Test("A page continues after a server restart")
  func restart() async throws {
    let (server, pages) = (try await start(), try await PageServer())
    let browser = try Chromium(showing: try pages.url("restart", of: server))
    await pages.expect("ready")
    await server.stop()
    let next = try await start(port: try #require(server.port))
    await pages.expect("again")
    withExtendedLifetime(browser) {}
    await next.stop()
    try await pages.close()
  }
}
