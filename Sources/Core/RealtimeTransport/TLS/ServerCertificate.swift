#if TLS
private import Glibc
internal import NIOCore
internal import NIOSSL

/// A server's certificate and its private key.
package struct ServerCertificate: Sendable {
  private let context: NIOSSLContext
  /// The expiry of the certificate, in seconds since 1970.
  package let expiry: Int64

  /// Loads a certificate and its key.
  ///
  /// As with `ssh`, the key must be readable only by its owner. A key owned by root may also be
  /// readable by its group, because that is how systems share keys with their servers.
  ///
  /// - Parameters:
  ///   - chain: A PEM file with the server's certificate, followed by intermediate ones.
  ///   - key: A PEM file with the private key, without a pass phrase.
  /// - Throws: ``ServerCertificateError``, which names the file and the reason.
  package init(chain: String, key: String) throws(ServerCertificateError) {
    let certificates = try PEMFile(chain).certificates()
    let file = try PEMFile(key)
    try file.checkPrivacy()
    let privateKey = try file.privateKey()
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificates.map { .certificate($0) },
      privateKey: .privateKey(privateKey)
    )
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    do {
      context = try NIOSSLContext(configuration: configuration)
    } catch {
      throw ServerCertificateError(
        description: "the key in \(key) does not match the certificate in \(chain)"
      )
    }
    expiry = certificates.map { Int64($0.notValidAfter) }.min() ?? 0
  }

  /// Adds TLS to a connection before anything is read from it.
  func secure(_ channel: any Channel) throws {
    let handler = NIOSSLServerHandler(context: context)
    let watch = TLSWatch(host: "this client", certificate: { nil })
    try channel.pipeline.syncOperations.addHandlers(handler, watch)
  }
}

/// A PEM file with certificates or a private key.
struct PEMFile {
  /// The size limit: longer than any list of authorities, yet harmless to read by mistake.
  private static let longest = 16 * 1_024 * 1_024

  private let path: String
  private let bytes: [UInt8]
  /// The permissions of the file, such as 0o600.
  private let mode: UInt32
  private let owner: UInt32

  init(_ path: String) throws(ServerCertificateError) {
    self.path = path
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path) }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure(path) }
    mode = status.st_mode & 0o777
    owner = status.st_uid
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw ServerCertificateError(description: "\(path) is a directory")
    }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &piece, piece.count)
      guard count >= 0 else { throw Self.failure(path) }
      guard count > 0 else { break }
      bytes += piece[..<count]
      guard bytes.count <= Self.longest else {
        throw ServerCertificateError(description: "\(path) is too large for a certificate file")
      }
    }
    self.bytes = bytes
  }

  private static func failure(_ path: String) -> ServerCertificateError {
    ServerCertificateError(description: "\(path): \(String(cString: strerror(errno)))")
  }

  /// Checks that only the owner can access a private key, or also the group if root owns it.
  func checkPrivacy() throws(ServerCertificateError) {
    let allowed: UInt32 = owner == 0 ? 0o740 : 0o700
    guard mode & ~allowed == 0 else {
      throw ServerCertificateError(
        description: "other users can read or change \(path); make it private with chmod 600"
      )
    }
  }

  /// All certificates in the file, at least one.
  func certificates() throws(ServerCertificateError) -> [NIOSSLCertificate] {
    guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty
    else { throw ServerCertificateError(description: "\(path) contains no PEM certificate") }
    return certificates
  }

  func privateKey() throws(ServerCertificateError) -> NIOSSLPrivateKey {
    do {
      return try NIOSSLPrivateKey(bytes: bytes, format: .pem)
    } catch {
      throw ServerCertificateError(
        description: "\(path) contains no PEM private key without a passphrase"
      )
    }
  }
}
#endif
