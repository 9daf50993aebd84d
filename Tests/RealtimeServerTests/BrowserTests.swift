import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeServer
import TestSupport
import Testing

@testable import RealtimeTransport

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
      "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
      "--disable-backgrounding-occluded-windows", "--user-data-dir=\(directory.path)", url,
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

/// Serves the page, shows its parts in a browser, and receives what they report.
private final class PageServer: Sendable {
  private let listener: ServerListener
  private let reports: AsyncStream<String>
  /// The address to show next, once; empty if there is none.
  private let next: NIOLockedValueBox<String>

  init() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    let next = NIOLockedValueBox("")
    let page = try PackageFiles.text("assets/transcripts/browser.html")
    (reports, self.next) = (stream, next)
    listener = try await ServerListener.listen(
      at: .loopback(port: 0),
      on: MultiThreadedEventLoopGroup.singleton.next(),
      policy: RequestPolicy(isPublic: { _ in true }),
      handlers: ServerHandlers(
        answer: { request, loop in
          if request.method == "POST" {
            continuation.yield(String(decoding: request.body, as: UTF8.self))
          }
          let text =
            request.path == "/next"
            ? next.withLockedValue { url in
              defer { url = "" }
              return url
            } : page
          return loop.makeSucceededFuture(
            .answer(
              HTTPAnswer(
                status: request.path.hasPrefix("/fav") ? 404 : 200,
                contentType: "text/html",
                body: Array(text.utf8)
              )
            )
          )
        },
        accept: { _ in ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in }) }
      )
    ).get()
  }

  /// The address of a part of the page, which talks to a server.
  func url(_ part: String, of server: DatabaseServer? = nil) -> String {
    guard case .tcp(_, let port, _) = listener.address else { return "" }
    let database = server?.port.map { "db=127.0.0.1:\($0)&" } ?? ""
    return "http://127.0.0.1:\(port)/?\(database)part=\(part)"
  }

  /// Shows a part of the page in a new tab.
  func show(_ part: String, of server: DatabaseServer) {
    next.withLockedValue { $0 = url(part, of: server) }
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

/// One browser shows all parts, because its start takes most of the time; each part would wait for
/// ever for a report that does not come.
@Suite("A browser", .enabled(if: Chromium.isInstalled), .timeLimit(.minutes(3)))
struct BrowserTests {
  private func start(port: Int = 0) async throws -> DatabaseServer {
    try await .start(.emulator(port: port))
  }

  private func value(_ server: DatabaseServer, _ path: String) async throws -> String {
    try await HTTPProbe(server.address).request("GET", "\(path)?ns=web").body
  }

  @Test("polls where WebSockets are blocked, leaves its sessions, and continues after a restart")
  func parts() async throws {
    let pages = try await PageServer()
    let browser = try Chromium(showing: pages.url("control"))
    try await pollAndUpgrade(pages)
    for (part, step) in [("closing", "closed"), ("reload", "reloaded")] {
      try await leave(pages, by: part, step: step)
    }
    try await restart(pages)
    withExtendedLifetime(browser) {}
    try await pages.close()
  }

  /// A page polls where WebSockets are blocked and upgrades where they are not.
  private func pollAndUpgrade(_ pages: PageServer) async throws {
    let server = try await start()
    pages.show("first", of: server)
    await pages.expect("listening")
    _ = try await HTTPProbe(server.address).request("PUT", "/push.json?ns=web", "\"pushed\"")
    await pages.expect("talked")
    // The end of the polling was not the end of the session.
    #expect(try await value(server, "/moved.json") == "null")
    await server.stop()
  }

  /// A page that is closed or loaded again leaves its session.
  private func leave(_ pages: PageServer, by part: String, step: String) async throws {
    let server = try await start()
    let stream = try await HTTPProbe(server.address)
    stream.send(HTTPProbe.text("GET", "/gone.json?ns=web", lines: ["Accept: text/event-stream"]))
    #expect(try await stream.chunkAfterHead().contains("null"))
    pages.show(part, of: server)
    await pages.expect(step)
    #expect(try await stream.chunk().contains("true"))
    await server.stop()
  }

  /// A page continues after its server has been started again.
  private func restart(_ pages: PageServer) async throws {
    let server = try await start()
    pages.show("restart", of: server)
    await pages.expect("ready")
    await server.stop()
    let next = try await start(port: try #require(server.port))
    await pages.expect("again")
    await next.stop()
  }
}
