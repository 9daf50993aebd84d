import Foundation
import RealtimeServer
import RealtimeTransport
import TLSTestSupport
import TestSupport

/// How a server's certificate is wrong, or that the server has none.
enum CertificateFault: CaseIterable {
  case otherName, otherAddress, expired, notYetValid, selfSigned, otherAuthority, none

  func issue(by authority: CertificateAuthority) throws -> CertificateAuthority.Issued? {
    switch self {
    case .otherName: try authority.issue(names: ["other.test"])
    case .otherAddress: try authority.issue(names: ["127.0.0.1"], addresses: [[10, 0, 0, 1]])
    case .expired: try authority.issue(years: 2_021...2_022)
    case .notYetValid: try authority.issue(years: 2_080...2_089)
    case .selfSigned: try authority.issue(isSelfSigned: true)
    case .otherAuthority: try CertificateAuthority().issue()
    case .none: nil
    }
  }
}

/// A private authority, and the files of what it signs.
final class Certificates: Sendable {
  let authority: CertificateAuthority
  /// Trust in this authority alone.
  let trust: TrustRoots
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    authority = try CertificateAuthority()
    trust = .file(directory.file("authority.pem"))
    try write(authority.certificate, to: "authority.pem")
  }

  /// The path of the authority's certificate.
  var path: String { directory.file("authority.pem") }

  @discardableResult
  func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    let path = directory.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  func files(
    _ issued: CertificateAuthority.Issued,
    as name: String = "server"
  ) throws
    -> DatabaseServer.TLS
  {
    DatabaseServer.TLS(
      certificateChain: try write(issued.certificate, to: "\(name).pem", mode: 0o644),
      privateKey: try write(issued.key, to: "\(name).key")
    )
  }

  /// A certificate in the form that a listener accepts.
  func certificate(_ issued: CertificateAuthority.Issued) throws -> ServerCertificate {
    let files = try files(issued)
    return try ServerCertificate(chain: files.certificateChain, key: files.privateKey)
  }
}
