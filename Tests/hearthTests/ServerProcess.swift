import Foundation
import Testing

/// A server that a test has started as an operator would, with its readiness message; it ends with
/// its sandbox at the latest.
struct ServerProcess {
  let process: Spawned
  let ready: [String: Any]
  private let log: String

  /// Starts `hearth serve` and waits for its readiness line.
  ///
  /// - Parameters:
  ///   - sandbox: The home and directories of the server.
  ///   - arguments: The arguments after `serve`.
  ///   - fileLimit: The maximum number of open files of the process, or nil for the test's own
  ///     limit.
  ///   - errors: Where its standard error goes, or nil for a file of its own.
  /// - Throws: ``Waited`` when it does not become ready.
  init(
    _ sandbox: Sandbox,
    _ arguments: [String],
    fileLimit: Int? = nil,
    errors: String? = nil
  ) throws {
    let name = sandbox.directory + "/" + UUID().uuidString
    let command = [Sandbox.program, "serve"] + arguments
    // The shell becomes the server, so that the signals of the test reach it.
    let limited = fileLimit.map { ["/bin/sh", "-c", "ulimit -n \($0); exec \"$@\"", "sh"] } ?? []
    let words = limited + command
    log = errors ?? name + ".err"
    process = try sandbox.start(
      Array(words.dropFirst()),
      of: words[0],
      output: name + ".out",
      errors: log
    )
    try waitUntil("the server is ready", within: 60) {
      try String(contentsOfFile: name + ".out", encoding: .utf8).hasSuffix("\n")
    }
    ready = try object(String(contentsOfFile: name + ".out", encoding: .utf8))
  }

  var port: Int { ready["port"] as? Int ?? 0 }
  var socket: String { ready["socket"] as? String ?? "" }
  /// The address of the blog's database at the private socket.
  var localURL: String { "unix:\(socket)?ns=hearth" }

  /// The text of the server's log.
  func text() throws -> String { try String(contentsOfFile: log, encoding: .utf8) }

  var lines: [String] { get throws { try text().split(separator: "\n").map(String.init) } }

  /// Sends a request to the port, or to the private socket, and returns the status and the body of
  /// the response.
  func request(
    _ method: String,
    _ target: String,
    _ body: String? = nil,
    bearer: String? = nil,
    bySocket: Bool = false
  ) throws -> (status: Int, body: String) {
    let descriptor = try bySocket ? #require(WireClient.connect(to: socket)) : connectToPort()
    defer { close(descriptor) }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close"]
    if let bearer { lines.append("Authorization: Bearer \(bearer)") }
    if let body { lines.append("Content-Length: \(body.utf8.count)") }
    let text = (lines + ["", body ?? ""]).joined(separator: "\r\n")
    _ = text.withCString { send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count <= 0 { break }
      answer += buffer[..<count]
    }
    let parts = String(decoding: answer, as: UTF8.self).components(separatedBy: "\r\n\r\n")
    let status = parts[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (status ?? 0, parts.dropFirst().joined(separator: "\r\n\r\n"))
  }

  private func connectToPort() throws -> Int32 {
    let descriptor = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
    }
    try #require(result == 0)
    return descriptor
  }
}

extension Sandbox {
  /// Starts a server and waits until it is ready.
  @discardableResult
  func serve(_ arguments: String...) throws -> ServerProcess {
    try serve(arguments)
  }

  /// Starts a server and waits until it is ready.
  @discardableResult
  func serve(_ arguments: [String]) throws -> ServerProcess {
    try ServerProcess(self, arguments)
  }

  /// Starts a server with a socket and data apart from those that commands use by default.
  @discardableResult
  func serveApart() throws -> ServerProcess {
    try serve("--socket", directory + "/run/own.sock", "--data-dir", directory + "/own")
  }

  /// Starts a server at a port with data of its own and the blog's rules, which require accounts.
  func serveBlog(
    rules: String = package + "/assets/rules/blog.json",
    _ options: [String] = []
  ) throws -> (server: ServerProcess, url: String) {
    let server = try serve(
      [
        "--port", "0", "--socket", directory + "/run/blog.sock", "--data-dir", directory + "/blog",
        "--rules", rules,
      ] + options
    )
    return (server, "http://127.0.0.1:\(server.port)?ns=hearth")
  }
}
