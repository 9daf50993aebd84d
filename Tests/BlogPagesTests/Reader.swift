import Foundation
import HearthProgram
import RealtimeServer
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

/// A server with pages, and a reader who has not signed in.
struct Reader {
  private static let key = "0123456789abcdef0123456789abcdef"
  /// Rules under which everybody may read the blog, but not the users' read marks.
  static let rules = """
    {"rules": {
      "posts": {".read": true, ".indexOn": "starCount"},
      "user-posts": {".read": true},
      "post-comments": {".read": true}
    }}
    """

  let server: DatabaseServer

  init(rules: String = Self.rules, address: String? = "https://blog.example.org") async throws {
    var options = DatabaseServer.Options(port: 0, rules: .source(rules))
    options.identities.administratorKey = Self.key
    options.pages = try BlogPages(title: "A & B's <blog>", address: address)
    let server = try await DatabaseServer.start(options)
    afterTest { await server.stop() }
    self.server = server
  }

  /// A response, with its body as text.
  struct Answer {
    let status: Int
    let body: String
    let lines: [String: String]

    subscript(name: String) -> String? { lines[name.lowercased()] }
  }

  func get(
    _ target: String,
    method: String = "GET",
    lines: [String] = []
  ) async throws -> Answer {
    let port = try #require(server.port)
    let request =
      ([
        "\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close",
      ] + lines + ["", ""]).joined(separator: "\r\n")
    let text = try await RawPeer.exchange(.loopback(port: port), request)
    let parts = try #require(text.range(of: "\r\n\r\n"))
    let head = text[..<parts.lowerBound].split(separator: "\r\n")
    let status = try #require(
      head.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    )
    let pairs = head.dropFirst().map { line in
      let pair = line.split(separator: ":", maxSplits: 1)
      return (pair[0].lowercased(), pair[1].trimmingCharacters(in: .whitespaces))
    }
    return Answer(
      status: status,
      body: String(text[parts.upperBound...]),
      lines: Dictionary(pairs) { first, _ in first }
    )
  }

  /// Writes as an administrator.
  func put(_ path: String, _ value: Any, method: String = "PUT") async throws {
    let data = try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
    let body = String(decoding: data, as: UTF8.self)
    let port = try #require(server.port)
    let request = [
      "\(method) \(path).json HTTP/1.1", "Host: localhost", "Connection: close",
      "Authorization: Bearer \(Self.key)", "Content-Length: \(body.utf8.count)", "", body,
    ].joined(separator: "\r\n")
    let text = try await RawPeer.exchange(.loopback(port: port), request)
    try #require(text.hasPrefix("HTTP/1.1 200 "), "\(text)")
  }

  func post(
    _ key: String,
    title: String = "A title",
    body: String = "A body",
    author: String = "Ann",
    stars: Int = 0
  ) async throws {
    let post: [String: Any] = [
      "uid": "u1", "author": author, "title": title, "body": body, "starCount": stars,
    ]
    try await put("/", ["posts/\(key)": post, "user-posts/u1/\(key)": post], method: "PATCH")
  }

  /// The key of a post created at a time in seconds since 1970.
  static func key(_ seconds: Int64, _ number: Int = 0) -> String {
    let alphabet = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
    let time = seconds * 1_000
    let digits = (0..<8).map { alphabet[Int(time >> Int64(42 - 6 * $0)) & 63] }
    let tail = String(number)
    return String(digits) + String(repeating: "0", count: 12 - tail.count) + tail
  }
}
