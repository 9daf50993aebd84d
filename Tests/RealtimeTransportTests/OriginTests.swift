import NIOCore
import NIOPosix
import Testing
import TransportTestSupport

@testable import RealtimeTransport

@Suite("A listener with allowed origins")
struct OriginTests {
  private static let page = "http://localhost:5173"

  private func answer(
    _ request: String,
    allowing origins: [String] = [page],
    andLoopbackPages allowsLoopbackPages: Bool = false,
    at hosts: [String] = []
  ) async throws -> String {
    let listener = try await ServerListener.listen(
      at: .loopback(port: 0),
      on: MultiThreadedEventLoopGroup.singleton.next(),
      policy: RequestPolicy(
        allowedOrigins: origins,
        allowsLoopbackPages: allowsLoopbackPages,
        ownHosts: hosts
      ),
      handlers: ServerHandlers(accept: { connection in
        connection.close(code: 1_000, reason: "done")
        return ServerHandlers.Callbacks(onMessage: { _ in }, onClose: { _ in })
      })
    ).get()
    let text = try await RawPeer.exchange(listener.address, request, until: "done")
    try await listener.close().get()
    return text
  }

  private func plain(_ method: String = "GET", _ lines: String...) -> String {
    (["\(method) /a HTTP/1.1", "Host: localhost", "Connection: close"] + lines + ["", ""])
      .joined(separator: "\r\n")
  }

  @Test("opens a WebSocket for an allowed origin", arguments: [page, "HTTP://LocalHost:5173"])
  func webSocket(origin: String) async throws {
    let request = RawPeer.upgradeRequest(lines: ["Host: localhost", "Origin: \(origin)"])
    #expect(try await answer(request).hasPrefix("HTTP/1.1 101 "))
  }

  @Test(
    "rejects WebSockets and requests from all other origins",
    arguments: [
      "http://localhost", "http://localhost:51730", "https://localhost:5173", "null", "",
      "http://evil.test", "http://localhost:5173.evil.test", "http://localhost:5173/",
      "http://localhost:5173\r\nOrigin: http://evil.test", "\u{1}", "[",
    ]
  )
  func others(origin: String) async throws {
    let upgrade = RawPeer.upgradeRequest(lines: ["Host: localhost", "Origin: \(origin)"])
    for request in [upgrade, plain("GET", "Origin: \(origin)")] {
      let text = try await answer(request)
      #expect(text.hasPrefix("HTTP/1.1 403 ") || text.hasPrefix("HTTP/1.1 400 "), "\(text)")
      #expect(!text.contains("Access-Control"))
    }
  }

  @Test(
    "accepts any page served by this machine if configured, and no other",
    arguments: [
      ("http://localhost", true), ("http://localhost:5173", true), ("HTTP://LocalHost:80", true),
      ("https://127.0.0.1:3000", true), ("http://[::1]:8080", true), ("http://a.localhost", true),
      ("http://evil.test", false), ("http://localhost.evil.test", false), ("null", false),
      ("", false), ("http://127.0.0.1.evil.test:80", false), ("localhost", false),
      ("file://localhost", false), ("http://localhost:5173/", false),
      ("http://localhost\r\nOrigin: http://localhost", false),
    ]
  )
  func loopbackPages(origin: String, isLetIn: Bool) async throws {
    let text = try await answer(
      plain("GET", "Origin: \(origin)"),
      allowing: [],
      andLoopbackPages: true
    )
    #expect(text.hasPrefix("HTTP/1.1 404 ") == isLetIn, "\(text)")
    #expect(text.contains("Access-Control-Allow-Origin: \(origin)\r\n") == isLetIn)
  }

  @Test("lets allowed origins read the responses")
  func readable() async throws {
    let text = try await answer(plain("GET", "Origin: \(Self.page)"))
    #expect(text.contains("Access-Control-Allow-Origin: \(Self.page)\r\n"))
    #expect(text.contains("Vary: Origin\r\n"))
    #expect(!text.contains("Allow-Methods"))
    // A cache must not give the page what it has stored for others.
    let other = try await answer(plain())
    #expect(!other.contains("Access-Control") && other.contains("Vary: Origin\r\n"))
  }

  @Test(
    "accepts an origin that is named with its usual port, and that of an app",
    arguments: [
      ("https://app.test:443", "https://app.test", true), ("http://[::1]:80", "http://[::1]", true),
      ("https://app.test:80", "https://app.test", false),
      ("Capacitor://Localhost", "capacitor://localhost", true),
      ("capacitor://localhost", "https://localhost", false),
    ]
  )
  func named(allowed: String, sent: String, isAccepted: Bool) async throws {
    let text = try await answer(plain("GET", "Origin: \(sent)"), allowing: [allowed])
    #expect(text.hasPrefix("HTTP/1.1 404 ") == isAccepted, "\(text)")
    #expect(text.contains("Access-Control-Allow-Origin: \(sent)\r\n") == isAccepted)
  }

  @Test("answers a preflight request with the allowed methods and headers")
  func preflight() async throws {
    let text = try await answer(
      plain(
        "OPTIONS",
        "Origin: \(Self.page)",
        "Access-Control-Request-Method: PUT",
        "Access-Control-Request-Headers: if-match"
      )
    )
    #expect(text.contains("Access-Control-Allow-Methods: GET, HEAD, PUT"))
    #expect(text.contains("Access-Control-Allow-Headers: if-match\r\n"))
  }

  @Test(
    "rejects requests embedded in a page",
    arguments: ["same-origin", "same-site", "cross-site", "?"]
  )
  func embedded(site: String) async throws {
    let text = try await answer(plain("GET", "Sec-Fetch-Site: \(site)"))
    #expect(text.hasPrefix("HTTP/1.1 403 "))
    #expect(try await answer(plain("GET", "Sec-Fetch-Site: none")).hasPrefix("HTTP/1.1 404 "))
  }

  @Test(
    "accepts what an allowed page embeds or links to, such as scripts with a callback",
    arguments: [
      ("\(page)/app?x=1", true), ("http://localhost:5174/", false), ("http://evil.test/", false),
      ("http://localhost:5173.evil.test/", false), ("null", false), ("", false),
    ]
  )
  func referrer(page: String, isAccepted: Bool) async throws {
    let text = try await answer(plain("GET", "Sec-Fetch-Site: cross-site", "Referer: \(page)"))
    #expect(text.hasPrefix("HTTP/1.1 404 ") == isAccepted, "\(text)")
    // A request that names its origin is judged by that alone.
    let lines = plain("GET", "Origin: http://evil.test", "Referer: \(Self.page)/")
    #expect(try await answer(lines).hasPrefix("HTTP/1.1 403 "))
  }

  @Test(
    "rejects hosts that DNS rebinding could use, and duplicate Host headers",
    arguments: [
      "evil.test", "localhost.evil.test", "127.0.0.1.evil.test", "localhost:0", "localhost:x",
      "1.2.3.4.evil.test", "hearth", "localhost\r\nHost: localhost", "[::1]x", "localhost.", "[::1",
      "",
    ]
  )
  func hosts(host: String) async throws {
    let text = try await answer(
      "GET /a HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
    )
    #expect(text.hasPrefix("HTTP/1.1 403 ") || text.hasPrefix("HTTP/1.1 400 "), "\(text)")
  }

  @Test(
    "accepts IP addresses and configured host names",
    arguments: [
      "10.0.2.2:9000", "10.0.2.2", "0.0.0.0", "127.0.0.2:1", "[fe80::1]:9000", "[::]",
      "hearth:9000",
      "hearth", "Blog.Example.org", "blog.example.org:9000",
    ]
  )
  func ownHosts(host: String) async throws {
    let text = try await answer(
      "GET /a HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n",
      at: ["hearth:9000", "blog.example.org"]
    )
    #expect(text.hasPrefix("HTTP/1.1 404 "), "\(text)")
  }

  @Test(
    "accepts the server's own host as the origin",
    arguments: [
      ("10.0.2.2:9000", "http://10.0.2.2:9000", true), ("10.0.2.2", "http://10.0.2.2", true),
      ("10.0.2.2:9000", "http://10.0.2.2", false), ("10.0.2.2", "http://10.0.2.3", false),
      ("10.0.2.2:80", "http://10.0.2.2", true), ("10.0.2.2", "http://10.0.2.2:9000", false),
      ("localhost:9000", "http://localhost:9000", true),
      ("localhost:9000", "http://localhost:9001", false), ("localhost", "http://localhost", false),
      ("localhost:9000", "http://127.0.0.1:9000", false),
      ("[::1]:9000", "http://[::1]:9000", true), ("LocalHost:9000", "HTTP://localHost:9000", true),
      ("blog.example.org", "https://blog.example.org", true),
      ("127.0.0.1:9000", "https://blog.example.org", true),
      ("127.0.0.1:9000", "https://blog.example.org:9000", false),
      ("127.0.0.1:9000", "http://hearth:9000", true), ("127.0.0.1:9000", "http://hearth", false),
      ("evil.test:9000", "http://evil.test:9000", false),
      ("localhost:9000\r\nHost: localhost:9000", "http://localhost:9000", false),
      ("localhost:9000", "http://localhost:9000\r\nOrigin: http://localhost:9000", false),
    ]
  )
  func ownOrigin(host: String, origin: String, isLetIn: Bool) async throws {
    let upgrade = RawPeer.upgradeRequest(lines: ["Host: \(host)", "Origin: \(origin)"])
    let text = try await answer(upgrade, allowing: [], at: ["hearth:9000", "blog.example.org"])
    #expect(text.hasPrefix("HTTP/1.1 101 ") == isLetIn, "\(text)")
  }

  @Test(
    "lets pages of its own host read, for which browsers send no origin",
    arguments: [
      ("10.0.2.2:9000", true), ("blog.example.org", true), ("localhost:9000", true),
      ("localhost", false), ("evil.test:9000", false),
    ]
  )
  func ownPageReads(host: String, isLetIn: Bool) async throws {
    for (site, isOwn) in [("same-origin", true), ("same-site", false), ("cross-site", false)] {
      let text = try await answer(
        "GET /a HTTP/1.1\r\nHost: \(host)\r\nSec-Fetch-Site: \(site)\r\nConnection: close\r\n\r\n",
        at: ["blog.example.org"]
      )
      #expect(text.hasPrefix("HTTP/1.1 404 ") == (isLetIn && isOwn), "\(text)")
    }
  }

  @Test(
    "recognizes valid origins",
    arguments: [
      ("http://localhost:5173", true), ("https://app.test", true), ("http://[::1]:80", true),
      ("capacitor://localhost", true), ("chrome-extension://abcdefgh", true),
      ("localhost", false), ("http://", false), ("http://a/b", false), ("://a", false),
      ("http://a:b", false), ("*", false), ("null", false), ("a b://c", false), ("file:///", false),
    ]
  )
  func origins(text: String, isOrigin: Bool) {
    #expect(RequestPolicy.isOrigin(text) == isOrigin)
  }
}
