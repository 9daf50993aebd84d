import Foundation
import NIOCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A listener", .cleansUp)
struct ListenerPolicyTests {
  private func answer(
    _ request: String,
    isUnix: Bool = false
  ) async throws -> String {
    let directory = try TemporaryDirectory()
    let listener = try await ServerListener.startEcho(
      at: isUnix ? .unix(path: directory.file("s")) : .loopback(port: 0)
    )
    let text = try await RawPeer.exchange(listener.address, request)
    try await listener.close().get()
    return text
  }

  @Test("rejects requests from web pages", arguments: [true, false])
  func origin(isUnix: Bool) async throws {
    let request = RawPeer.upgradeRequest(lines: ["Host: localhost", "Origin: http://localhost"])
    #expect(try await answer(request, isUnix: isUnix).hasPrefix("HTTP/1.1 403 "))
  }

  @Test(
    "rejects other hosts on TCP",
    arguments: ["Host: evil.test", "Host: localhost.evil.test", "Host: [::1", "Host: ", "X: y"]
  )
  func host(line: String) async throws {
    let text = try await answer(RawPeer.upgradeRequest(lines: [line]))
    #expect(text.hasPrefix("HTTP/1.1 403 "))
  }

  @Test("answers other paths with a 404 JSON error")
  func notFound() async throws {
    let text = try await answer("GET /a HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n\r\n")
    #expect(text.hasPrefix("HTTP/1.1 404 "))
    #expect(text.contains("application/json") && text.contains("{\"error\":"))
    let upgrade = try await answer(RawPeer.upgradeRequest(path: "/.lp?v=5"))
    #expect(upgrade.hasPrefix("HTTP/1.1 404 "))
  }

  @Test("answers a WebSocket request without an upgrade with 400")
  func noUpgrade() async throws {
    let text = try await answer("GET /.ws?v=5 HTTP/1.1\r\nHost: [::1]:1\r\n\r\n")
    #expect(text.hasPrefix("HTTP/1.1 400 "))
  }

  @Test(
    "hangs up on garbage",
    arguments: ["\u{0}\u{1}\u{2}garbage\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "{\"t\":\"d\"}\r\n"]
  )
  func garbage(request: String) async throws {
    #expect(!(try await answer(request).hasPrefix("HTTP/1.1 101")))
  }

  @Test("rejects headers that are too long or too many")
  func headers() async throws {
    let long = ["Host: localhost", "X: " + String(repeating: "x", count: 9_000)]
    #expect(!(try await answer(RawPeer.upgradeRequest(lines: long)).hasPrefix("HTTP/1.1 101")))
    let many = ["Host: localhost"] + (0..<100).map { "X-\($0): y" }
    #expect(!(try await answer(RawPeer.upgradeRequest(lines: many)).hasPrefix("HTTP/1.1 101")))
  }

  @Test("hangs up on garbage after the handshake")
  func garbageFrames() async throws {
    let text = try await answer(RawPeer.upgradeRequest() + "\u{7F}\u{7F}\u{7F}\u{7F}garbage")
    #expect(text.hasPrefix("HTTP/1.1 101 "))
  }

  @Test("creates a socket for its own user only and removes it when closed")
  func mode() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    let listener = try await ServerListener.startEcho(at: .unix(path: path))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    try await listener.close().get()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("replaces a stale socket")
  func stale() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    try leaveStaleSocket(at: path)
    let listener = try await ServerListener.startEcho(at: .unix(path: path))
    let client = try await ClientProbe(listener.address.target)
    #expect(try await client.next() == "hello")
  }

  @Test("does not replace a socket in use")
  func inUse() async throws {
    let directory = try TemporaryDirectory()
    let address = ListenAddress.unix(path: directory.file("s"))
    _ = try await ServerListener.startEcho(at: address)
    let error = await #expect(throws: ListenError.self) {
      try await ServerListener.startEcho(at: address)
    }
    #expect(error?.kind == .inUse)
    let client = try await ClientProbe(address.target)
    #expect(try await client.next() == "hello")
  }

  @Test("does not replace a regular file")
  func regularFile() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    try Data("precious".utf8).write(to: URL(filePath: path))
    let error = await #expect(throws: ListenError.self) {
      try await ServerListener.startEcho(at: .unix(path: path))
    }
    #expect(error?.kind == .unusablePath)
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("precious".utf8))
  }

  @Test("reports the limit when a socket path is too long")
  func longPath() async throws {
    let path = "/tmp/" + String(repeating: "x", count: 103)
    let error = await #expect(throws: ListenError.self) {
      try await ServerListener.startEcho(at: .unix(path: path))
    }
    #expect(error?.kind == .unusablePath)
    #expect(error?.description.contains("107") == true)
  }

  @Test("reports a port that is in use")
  func portInUse() async throws {
    let first = try await ServerListener.startEcho()
    let error = await #expect(throws: ListenError.self) {
      try await ServerListener.startEcho(at: first.address)
    }
    #expect(error?.kind == .inUse)
  }

  private func leaveStaleSocket(at path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    try #require(result == 0)
  }
}
