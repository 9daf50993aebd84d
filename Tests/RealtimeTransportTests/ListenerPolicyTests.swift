import Foundation
import NIOCore
import RealtimeTransport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A listener", .cleansUp)
struct ListenerPolicyTests {
  @Test("rejects requests from web pages on TCP and Unix sockets", arguments: [true, false])
  func origin(isUnix: Bool) async throws {
    let directory = try TemporaryDirectory()
    let listener = try await ServerListener.startEcho(
      at: isUnix ? .unix(path: directory.file("s")) : .loopback(port: 0)
    )
    let request = RawPeer.upgradeRequest(lines: ["Host: localhost", "Origin: http://localhost"])
    let text = try await RawPeer.exchange(listener.address, request)
    #expect(text.hasPrefix("HTTP/1.1 403 "))
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
    await expectError(\ListenError.kind, .inUse) {
      try await ServerListener.startEcho(at: address)
    }
    let client = try await ClientProbe(address.target)
    #expect(try await client.next() == "hello")
  }

  @Test("does not replace a regular file")
  func regularFile() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("s")
    try Data("precious".utf8).write(to: URL(filePath: path))
    await expectError(\ListenError.kind, .unusablePath) {
      try await ServerListener.startEcho(at: .unix(path: path))
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("precious".utf8))
  }

  @Test("reports the limit when a socket path is too long")
  func longPath() async throws {
    let path = "/tmp/" + String(repeating: "x", count: 103)
    await expectError(\ListenError.kind, .unusablePath, saying: "107") {
      try await ServerListener.startEcho(at: .unix(path: path))
    }
  }

  @Test("says in plain words that an address does not exist")
  func unknownHost() async throws {
    let error = await #expect(throws: ListenError.self) {
      try await ServerListener.startEcho(at: .tcp(host: "no host", port: 0, isSecure: false))
    }
    #expect(error?.description == "http://no host:0 cannot be used: unknown host")
  }

  private func leaveStaleSocket(at path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    try #require(withUnixAddress(path) { bind(descriptor, $0, $1) } == 0)
  }
}
