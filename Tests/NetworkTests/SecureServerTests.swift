import Foundation
import Logging
import NIOPosix
import RealtimeDatabase
import RealtimeServer
import RealtimeTransport
import TLSTestSupport
import TestSupport
import Testing
import TransportTestSupport

@Suite("A server with a certificate", .timeLimit(.minutes(1)), .cleansUp)
struct SecureServerTests {
  private let certificates: Certificates

  init() throws { certificates = try Certificates() }

  private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func start(_ tls: DatabaseServer.TLS?) async throws -> DatabaseServer {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.tls = tls
    let server = try await DatabaseServer.start(options, logger: Self.silent)
    afterTest { await server.stop() }
    return server
  }

  private func client(bodyBytes: Int = 1_000_000) -> HTTPClient {
    var client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: certificates.trust,
      timeout: .seconds(30)
    )
    client.bodyBytes = bodyBytes
    return client
  }

  @Test("serves REST, event streams and WebSockets over TLS on one port")
  func protocols() async throws {
    let server = try await start(certificates.files(try certificates.authority.issue()))
    let port = try #require(server.port)
    #expect(server.urls == ["https://127.0.0.1:\(port)?ns=hearth"])
    let url = "https://localhost:\(port)/greeting.json"
    let text = String(repeating: "x", count: 2_000)
    let body = Array("\"\(text)\"".utf8)
    let put = try await client().send(HTTPClientRequest("PUT", url: url, body: body))
    #expect(put.status == 200)
    let lines = [HTTPAnswer.HeaderLine("Accept", "text/event-stream")]
    let stream = await #expect(throws: HTTPClientError.self) {
      try await client(bodyBytes: 1_000).send(
        HTTPClientRequest("GET", url: url, headerLines: lines)
      )
    }
    // The stream is endless; its first event exceeds the limit.
    #expect(stream?.kind == .tooLarge)
    var options = DatabaseOptions()
    options.trustRoots = .file(certificates.path)
    let database = try Database(url: "https://localhost:\(port)?ns=hearth", options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    #expect(try await database.reference(withPath: "greeting").getData().value as? String == text)
    await database.close()
  }

  @Test("answers a client over TLS with 503 when it has too many connections")
  func noRoom() async throws {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.tls = try certificates.files(try certificates.authority.issue())
    options.limits.connectionsPerAddress = 1
    let server = try await DatabaseServer.start(options, logger: Self.silent)
    afterTest { await server.stop() }
    let port = try #require(server.port)
    let target = ConnectionTarget(host: "localhost", port: port, isSecure: true)
    let client = try await ClientProbe(target, trust: certificates.trust)
    _ = try await client.next()
    for _ in 0..<20 {
      let url = "https://localhost:\(port)/a.json"
      let answer = try await self.client().send(HTTPClientRequest("GET", url: url))
      #expect(answer.status == 503)
    }
    client.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
    #expect(try await client.next() == #"{"t":"c","d":{"t":"o","d":{}}}"#)
    client.close()
  }

  @Test("answers to any host name, as its certificate says which are valid")
  func anyHost() async throws {
    let issued = try certificates.authority.issue(names: ["db.example.test"])
    let server = try await start(certificates.files(issued))
    var client = client()
    let port = try #require(server.port)
    client.detours = ["db.example.test:\(port)": .tcp(host: "127.0.0.1", port: port)]
    let url = "https://db.example.test:\(port)/a.json"
    #expect(try await client.send(HTTPClientRequest("GET", url: url)).status == 200)
  }

  @Test("presents a reloaded certificate to new clients and keeps existing connections")
  func reload() async throws {
    let files = try certificates.files(try certificates.authority.issue())
    let server = try await start(files)
    let port = try #require(server.port)
    let target = ConnectionTarget(host: "localhost", port: port, isSecure: true)
    let old = try await ClientProbe(target, trust: certificates.trust)
    _ = try await old.next()
    let other = try CertificateAuthority("Another authority")
    _ = try certificates.files(try other.issue())
    try await server.reloadCertificate()
    let refused = try await ClientProbe(target, trust: certificates.trust)
    #expect(try await refused.closed().kind == .insecure(.unknownAuthority))
    let path = try certificates.write(other.certificate, to: "other.pem")
    let new = try await ClientProbe(target, trust: .file(path))
    _ = try await new.next()
    old.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
    #expect(try await old.next() == #"{"t":"c","d":{"t":"o","d":{}}}"#)
    old.close()
    new.close()
  }

  @Test("keeps its certificate when the new one is unusable")
  func reloadOfGarbage() async throws {
    let files = try certificates.files(try certificates.authority.issue())
    let server = try await start(files)
    try certificates.write("garbage", to: "server.pem")
    let error = await #expect(throws: DatabaseServerError.self) {
      try await server.reloadCertificate()
    }
    #expect(error?.kind == .certificateUnusable)
    let port = try #require(server.port)
    let target = ConnectionTarget(host: "localhost", port: port, isSecure: true)
    let probe = try await ClientProbe(target, trust: certificates.trust)
    _ = try await probe.next()
    probe.close()
  }

  /// How the files are damaged, and the words that the error must contain.
  enum Fault: CaseIterable {
    case noCertificate, certificateIsNone, noKey, keyIsNone, keyOfAnother, keyIsReadable

    var words: [String] {
      switch self {
      case .noCertificate: ["server.pem", "No such file"]
      case .certificateIsNone: ["server.pem", "no PEM certificate"]
      case .noKey: ["server.key", "No such file"]
      case .keyIsNone: ["server.key", "no PEM private key"]
      case .keyOfAnother: ["server.key", "does not match", "server.pem"]
      case .keyIsReadable: ["server.key", "other users can read or change", "chmod 600"]
      }
    }
  }

  @Test(
    "refuses to start with unusable certificate files and says which and why",
    arguments: Fault.allCases
  )
  func faults(fault: Fault) async throws {
    let files = try certificates.files(try certificates.authority.issue())
    switch fault {
    case .noCertificate: try FileManager.default.removeItem(atPath: files.certificateChain)
    case .certificateIsNone: try certificates.write("-----BEGIN", to: "server.pem")
    case .noKey: try FileManager.default.removeItem(atPath: files.privateKey)
    case .keyIsNone: try certificates.write("nothing", to: "server.key")
    case .keyOfAnother:
      try certificates.write(try certificates.authority.issue().key, to: "server.key")
    case .keyIsReadable:
      let key = try String(contentsOfFile: files.privateKey, encoding: .utf8)
      try certificates.write(key, to: "server.key", mode: 0o604)
    }
    let error = await #expect(throws: DatabaseServerError.self) { try await start(files) }
    #expect(error?.kind == .certificateUnusable)
    for word in fault.words { #expect(error?.description.contains(word) == true) }
  }

  @Test(
    "refuses what is no host, and a public address without TLS unless that is allowed",
    arguments: [
      ("0.0.0.0", false, false, false), ("::", false, false, false),
      ("192.168.1.1", false, false, false), ("example.test", false, false, false),
      ("", true, false, false), ("[::1]", true, true, false), ("localhost:1", true, true, false),
      ("0.0.0.0", true, false, true), ("0.0.0.0", false, true, true),
      ("fe80::1%eth0", true, false, true),
      ("127.0.0.1", false, false, true), ("127.8.0.1", false, false, true),
      ("::1", false, false, true), ("localhost", false, false, true),
    ]
  )
  func exposure(host: String, isEncrypted: Bool, isAllowed: Bool, isAccepted: Bool) throws {
    var options = DatabaseServer.Options(port: 0)
    options.host = host
    if isEncrypted { options.tls = .init(certificateChain: "c", privateKey: "k") }
    options.allowsPlaintext = isAllowed
    if isAccepted {
      try options.checkExposure()
    } else {
      let error = #expect(throws: DatabaseServerError.self) { try options.checkExposure() }
      #expect(error?.kind == .invalidOptions)
    }
  }

  @Test("never exposes the emulator on a public address")
  func exposedEmulator() throws {
    var options = DatabaseServer.Options.emulator()
    options.host = "0.0.0.0"
    options.allowsPlaintext = true
    let error = #expect(throws: DatabaseServerError.self) { try options.checkExposure() }
    #expect(error?.kind == .invalidOptions)
  }
}
