import NIOCore
import NIOPosix
import RealtimeTransport
import TLSTestSupport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A client of a TLS server")
struct TrustTests {
  private let certificates: Certificates

  init() throws { certificates = try Certificates() }

  /// The outcome of a connection, and of a plain request, to a server with a certificate.
  private func outcome(
    _ issued: CertificateAuthority.Issued?,
    host: String = "localhost",
    trust: TrustRoots? = nil
  ) async throws -> (end: ConnectionEnd, error: HTTPClientError?) {
    let listener = try await ServerListener.startEcho(
      issued.map { try certificates.certificate($0) }
    )
    var target = ConnectionTarget(host: host, port: listener.port, isSecure: true)
    target.detour = .tcp(host: "127.0.0.1", port: listener.port)
    let trust = trust ?? certificates.trust
    let probe = try await ClientProbe(target, trust: trust)
    let client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: trust,
      timeout: .seconds(20)
    )
    var failure: HTTPClientError?
    do throws(HTTPClientError) {
      _ = try await client.send(HTTPClientRequest("GET", to: target, path: "/"))
    } catch {
      failure = error
    }
    let end = try await probe.closed()
    try await listener.close().get()
    return (end, failure)
  }

  @Test("connects to a server whose certificate matches its name")
  func trusted() async throws {
    let issued = try certificates.authority.issue(names: ["*.example.test"])
    let listener = try await ServerListener.startEcho(try certificates.certificate(issued))
    var target = ConnectionTarget(host: "a.example.test", port: listener.port, isSecure: true)
    target.detour = .tcp(host: "127.0.0.1", port: listener.port)
    let probe = try await ClientProbe(target, trust: certificates.trust)
    #expect(try await probe.next() == "hello")
    let long = String(repeating: "äö", count: 300_000)
    probe.send(long)
    #expect(try await probe.next() == long)
    probe.close()
    #expect(try await probe.closed().kind == .closed)
    try await listener.close().get()
  }

  @Test("connects to a server whose certificate matches its IP address")
  func trustedAddress() async throws {
    let listener = try await ServerListener.startEcho(
      try certificates.certificate(try certificates.authority.issue(names: ["other.test"]))
    )
    let target = ConnectionTarget(host: "127.0.0.1", port: listener.port, isSecure: true)
    let probe = try await ClientProbe(target, trust: certificates.trust)
    #expect(try await probe.next() == "hello")
    probe.close()
    try await listener.close().get()
  }

  @Test("rejects a certificate for another name")
  func wrongName() async throws {
    let issued = try certificates.authority.issue(names: ["other.test"])
    let (end, error) = try await outcome(issued)
    #expect(end.kind == .insecure(.wrongName))
    #expect(end.description.contains("its certificate is not for localhost"))
    #expect(error?.kind == .insecure(.wrongName))
  }

  @Test("rejects a certificate for another IP address")
  func wrongAddress() async throws {
    let issued = try certificates.authority.issue(names: ["127.0.0.1"], addresses: [[10, 0, 0, 1]])
    let (end, error) = try await outcome(issued, host: "127.0.0.1")
    #expect(end.kind == .insecure(.wrongName))
    #expect(error?.kind == .insecure(.wrongName))
  }

  @Test("rejects an expired certificate and says when it expired")
  func expired() async throws {
    let issued = try certificates.authority.issue(years: 2_021...2_022)
    let (end, error) = try await outcome(issued)
    #expect(end.kind == .insecure(.expired))
    #expect(end.description.contains("expired on 2022-01-01"))
    #expect(error?.kind == .insecure(.expired))
  }

  @Test("rejects a certificate that is not valid yet and says when it becomes valid")
  func notYetValid() async throws {
    let issued = try certificates.authority.issue(years: 2_080...2_089)
    let (end, error) = try await outcome(issued)
    #expect(end.kind == .insecure(.notYetValid))
    #expect(end.description.contains("not valid until 2080-01-01"))
    #expect(error?.kind == .insecure(.notYetValid))
  }

  @Test("rejects a self-signed certificate")
  func selfSigned() async throws {
    let issued = try certificates.authority.issue(isSelfSigned: true)
    let (end, error) = try await outcome(issued)
    #expect(end.kind == .insecure(.unknownAuthority))
    #expect(end.description.contains("not signed by a trusted authority"))
    #expect(error?.kind == .insecure(.unknownAuthority))
  }

  @Test("rejects a certificate from an untrusted authority")
  func unknownAuthority() async throws {
    let issued = try CertificateAuthority().issue()
    #expect(try await outcome(issued).end.kind == .insecure(.unknownAuthority))
    let own = try certificates.authority.issue()
    #expect(try await outcome(own, trust: .system).end.kind == .insecure(.unknownAuthority))
  }

  @Test("rejects a server that does not speak TLS")
  func plainText() async throws {
    let (end, error) = try await outcome(nil)
    #expect(end.kind == .insecure(.notTLS))
    #expect(end.description.contains("does not speak TLS"))
    #expect(error?.kind == .insecure(.notTLS))
  }

  @Test("reports a server that hangs up before the handshake completes")
  func hungUp() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { $0.close() }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let target = ConnectionTarget(host: "localhost", port: port, isSecure: true)
    #expect(try await ClientProbe(target, trust: certificates.trust).closed().kind == .lost)
    try await server.close()
  }

  @Test("times out on a server that never responds")
  func silent() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    var limits = TransportLimits.client
    limits.handshake = .milliseconds(200)
    let target = ConnectionTarget(host: "127.0.0.1", port: port, isSecure: true)
    let probe = try await ClientProbe(target, trust: certificates.trust, limits: limits)
    #expect(try await probe.closed().kind == .timedOut)
    try await server.close()
  }

  @Test(
    "reports what is wrong with its CA file",
    arguments: [
      ("missing.pem", "No such file"), ("empty.pem", "no PEM certificate"), (".", "directory"),
    ]
  )
  func trustFile(name: String, words: String) async throws {
    try certificates.write("", to: "empty.pem")
    let target = ConnectionTarget(host: "localhost", port: 1, isSecure: true)
    let trust = TrustRoots.file(certificates.directory.file(name))
    let end = try await ClientProbe(target, trust: trust).closed()
    #expect(end.kind == .insecure(.unusableTrustRoots))
    #expect(end.description.contains(words))
  }

  @Test("loses the connection when it speaks plain text")
  func plainClient() async throws {
    let listener = try await ServerListener.startEcho(
      try certificates.certificate(try certificates.authority.issue())
    )
    let target = ConnectionTarget(host: "localhost", port: listener.port)
    #expect(try await ClientProbe(target).closed().kind == .lost)
    try await listener.close().get()
  }
}
