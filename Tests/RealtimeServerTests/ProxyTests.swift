import Foundation
import Glibc
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing

/// An nginx in front of a server, with the configuration that `assets/docs/serving.md` shows.
private final class Nginx {
  private static let paths = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]

  private static let program = paths.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Whether it is installed; otherwise says that the tests are skipped.
  static let isInstalled: Bool = {
    if program == nil { print("SKIPPED: nginx is not installed (apt-get install nginx-light)") }
    return program != nil
  }()

  /// The socket at which it listens.
  let address: ListenAddress
  private let directory: TemporaryDirectory
  private let process = Process()

  /// Starts it in front of a port, with what the page shows or with other lines in its location.
  init(port: Int, location: String? = nil) throws {
    directory = try TemporaryDirectory()
    let socket = directory.file("socket")
    address = .unix(path: socket)
    var site = try Self.site()
    if let location {
      let start = try #require(site.range(of: "location / {")?.upperBound)
      let end = try #require(site[start...].firstIndex(of: "}"))
      site.replaceSubrange(start..<end, with: location)
    }
    site = site.replacingOccurrences(of: "http://127.0.0.1:9000", with: "http://127.0.0.1:\(port)")
      .replacingOccurrences(of: "listen 443 ssl;", with: "listen unix:\(socket);")
      .split(separator: "\n").filter { !$0.contains("ssl_certificate") }.joined(separator: "\n")
    let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map { "\($0)_temp_path \(directory.file($0));" }.joined(separator: " ")
    let configuration = """
      daemon off; master_process off; pid \(directory.file("pid")); error_log stderr;
      events {} http { access_log off; \(places)
      \(site) }
      """
    let file = directory.file("nginx.conf")
    try configuration.write(toFile: file, atomically: true, encoding: .utf8)
    process.executableURL = URL(fileURLWithPath: Self.program ?? "")
    process.arguments = ["-p", directory.path, "-c", file]
    try process.run()
  }

  deinit {
    // It inherits a mask of this process in which SIGTERM is blocked.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The configuration on the page.
  private static func site() throws -> String {
    let page = try PackageFiles.text("assets/docs/serving.md")
    let block = try #require(page.firstMatch(of: /```nginx\n((?:.|\n)*?)```/))
    return String(block.1)
  }

  /// Connects as soon as it listens.
  func connect<Connection>(
    _ open: (ListenAddress) async throws -> Connection
  ) async throws -> Connection {
    let deadline = ContinuousClock.now + .seconds(20)
    while true {
      do {
        return try await open(address)
      } catch {
        guard process.isRunning, .now < deadline else { throw error }
        await Task.yield()
      }
    }
  }
}

@Suite("A server behind nginx", .enabled(if: Nginx.isInstalled), .timeLimit(.minutes(1)), .cleansUp)
struct ProxyTests {
  private func start(advertising host: String? = nil) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.advertisedHost = host
    return try await .start(options).endingWithTest()
  }

  @Test("The greeting names the host the client used, or the advertised one")
  func greeting() async throws {
    for (advertised, host) in [(nil, "127.0.0.1:8000"), ("blog.example.org", "blog.example.org")] {
      let server = try await start(advertising: advertised)
      let proxy = try Nginx(port: try #require(server.port))
      let socket = try await proxy.connect {
        try await RawWebSocket($0, lines: ["Host: \(advertised ?? "127.0.0.1:8000")"])
      }
      try await socket.expect(#""h":"\#(host)""#)
      try await socket.ask(1, "p", #"{"p":"a","d":1}"#)
      await server.stop()
    }
  }

  @Test("A large write passes through")
  func largeWrite() async throws {
    let server = try await start()
    let proxy = try Nginx(port: try #require(server.port))
    let http = try await proxy.connect { try await HTTPProbe($0) }
    let text = "\"\(String(repeating: "a", count: 3_000_000))\""
    try await http.request("PUT", "/a.json?print=silent", text, gives: 204)
  }

  @Test(
    "Each event arrives at once with the documented configuration, and over HTTP/1.0 without it",
    arguments: [true, false]
  )
  func events(isDocumented: Bool) async throws {
    let server = try await start()
    let port = try #require(server.port)
    let location = isDocumented ? nil : "proxy_pass http://127.0.0.1:\(port);\n"
    let proxy = try Nginx(port: port, location: location)
    let stream = try await proxy.connect { try await HTTPProbe($0) }
    stream.send(HTTPProbe.text("GET", "/a.json", lines: ["Accept: text/event-stream"]))
    #expect(try await stream.chunkAfterHead().contains(#""data":null"#))
    let http = try await HTTPProbe(server.address)
    try await http.request("PUT", "/a.json", "7", gives: 200)
    #expect(try await stream.chunk().contains(#""data":7"#))
  }
}

@Suite("A connection that a proxy uses again", .timeLimit(.minutes(1)), .cleansUp)
struct ReusedConnectionTests {
  private func start() async throws -> DatabaseServer {
    try await .start(DatabaseServer.Options(port: 0, rules: .open)).endingWithTest()
  }

  @Test("A WebSocket opens after other requests", arguments: [true, false])
  func webSocket(waits: Bool) async throws {
    let server = try await start()
    let socket = try await RawWebSocket(
      server.address,
      after: ["/a.json", "/.lp?start=t&cb=1", "/a"],
      waits: waits
    )
    try await socket.expect(#""t":"h""#)
    try await socket.ask(1, "p", #"{"p":"a","d":1}"#)
    socket.send("{}")
    try await socket.expect(#""t":"e""#)
  }

  @Test("A handshake after other requests is refused as a first one is")
  func refusal() async throws {
    let server = try await start()
    let refusals = [
      ("/.ws?v=5&ns=none", [], 404), ("/.ws?v=5", ["Origin: http://evil.example"], 403),
      ("/.ws?v=5", ["Connection: keep-alive"], 400), ("/a", [], 404),
    ]
    for (target, lines, status) in refusals {
      let http = try await HTTPProbe(server.address)
      try await http.request("GET", "/a.json", gives: 200)
      http.send(RawWebSocket.request(target, lines: lines))
      let answer = try await http.answer()
      #expect(answer.status == status && answer.lines["connection"] == "close", "\(target)")
    }
  }
}
