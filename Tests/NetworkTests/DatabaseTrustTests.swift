import Dispatch
import Logging
import RealtimeDatabase
import RealtimeServer
import TLSTestSupport
import TestSupport
import Testing

@Suite("A database with an https URL", .timeLimit(.minutes(1)), .cleansUp)
struct DatabaseTrustTests {
  private let certificates: Certificates

  init() throws { certificates = try Certificates() }

  private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func start(
    _ issued: CertificateAuthority.Issued?
  ) async throws -> (server: DatabaseServer, port: Int) {
    var options = DatabaseServer.Options(port: 0, rules: .open)
    options.tls = try issued.map { try certificates.files($0) }
    let server = try await DatabaseServer.start(options, logger: Self.silent)
    afterTest { await server.stop() }
    return (server, try #require(server.port))
  }

  private func open(_ port: Int) throws -> (Database, AsyncStream<ConnectionStatus>) {
    var options = DatabaseOptions()
    options.trustRoots = .file(certificates.path)
    options.maximumReconnectDelay = .milliseconds(100)
    let database = try Database(url: "https://localhost:\(port)?ns=hearth", options: options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    let (statuses, status) = AsyncStream.makeStream(of: ConnectionStatus.self)
    database.observeConnection { status.yield($0) }
    database.goOnline()
    return (database, statuses)
  }

  /// Writes without waiting for the server.
  private func write(_ value: Int, to reference: DatabaseReference) {
    reference.setValue(value, withCompletionBlock: nil)
  }

  @Test("reports each reason for not trusting a server", arguments: CertificateFault.allCases)
  func causes(fault: CertificateFault) async throws {
    let cause: ConnectionStatus.Problem.Cause =
      switch fault {
      case .selfSigned, .otherAuthority: .untrustedCertificate
      case .otherName, .otherAddress: .wrongHostName
      case .expired, .notYetValid: .certificateOutOfDate
      case .none: .notEncrypted
      }
    let issued = try fault.issue(by: certificates.authority)
    let port = try await start(issued).port
    let (database, statuses) = try open(port)
    var problem: ConnectionStatus.Problem?
    for await status in statuses where status.problem != nil {
      problem = status.problem
      break
    }
    #expect(problem?.cause == cause)
    #expect(problem?.isPermanent == true)
    #expect(problem?.reason.hasPrefix("https://localhost:\(port): ") == true)
    await database.close()
  }

  @Test("keeps retrying and connects once the certificate is valid")
  func recovers() async throws {
    let (server, port) = try await start(try certificates.authority.issue(years: 2_021...2_022))
    let (database, statuses) = try open(port)
    write(1, to: database.reference(withPath: "a"))
    while let status = await statuses.next(), status.problem == nil {}
    _ = try certificates.files(try certificates.authority.issue())
    try await server.reloadCertificate()
    while let status = await statuses.next() {
      guard status.phase == .connected, status.pendingWrites == 0 else { continue }
      #expect(status.problem == nil)
      break
    }
    #expect(try await database.reference(withPath: "a").getData().value as? Int == 1)
    await database.close()
  }
}
