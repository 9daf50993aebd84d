import NIOCore
import NIOPosix
import RealtimeTransport
import TLSTestSupport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A client of a TLS server", .cleansUp)
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
  }

  @Test(
    "rejects every wrong certificate and names the reason",
    arguments: CertificateFault.allCases
  )
  func rejected(fault: CertificateFault) async throws {
    let (cause, words): (TLSFailure.Kind, String) =
      switch fault {
      case .otherName: (.wrongName, "its certificate is not for localhost")
      case .otherAddress: (.wrongName, "its certificate is not for 127.0.0.1")
      case .expired: (.expired, "expired on 2022-01-01")
      case .notYetValid: (.notYetValid, "not valid until 2080-01-01")
      case .selfSigned, .otherAuthority: (.unknownAuthority, "not signed by a trusted authority")
      case .none: (.notTLS, "does not speak TLS")
      }
    let issued = try fault.issue(by: certificates.authority)
    let host = fault == .otherAddress ? "127.0.0.1" : "localhost"
    let (end, error) = try await outcome(issued, host: host)
    #expect(end.kind == .insecure(cause))
    #expect(end.description.contains(words))
    #expect(error?.kind == .insecure(cause))
  }

  @Test("rejects a certificate from an authority that is not trusted by default")
  func systemTrust() async throws {
    let own = try certificates.authority.issue()
    #expect(try await outcome(own, trust: .system).end.kind == .insecure(.unknownAuthority))
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
  }
}
