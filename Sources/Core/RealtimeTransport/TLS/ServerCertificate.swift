private import Glibc
internal import NIOCore
internal import NIOSSL

/// What a server shows to its clients, and the key that proves that it is the server's.
package struct ServerCertificate: Sendable {
  private let context: NIOSSLContext
  /// The end of the certificate's time, in seconds since 1970.
  package let expiry: Int64

  /// Reads a certificate and its key.
  ///
  /// A key that others than its owner can read is refused, as `ssh` does, except one that belongs to
  /// root and that a group may read, which is how systems share keys with their servers.
  ///
  /// - Parameters:
  ///   - chain: A PEM file: the certificate of the server, then those that lead to its authority.
  ///   - key: A PEM file with the private key, without a pass phrase.
  /// - Throws: ``ServerCertificateError`` that names the file and what is wrong with it.
  package init(chain: String, key: String) throws(ServerCertificateError) {
    let certificates: [NIOSSLCertificate]
    let privateKey: NIOSSLPrivateKey
    do throws(PEMFileError) {
      certificates = try PEMFile(chain).certificates()
      let file = try PEMFile(key)
      try file.checkPrivacy()
      privateKey = try file.privateKey()
    } catch {
      throw ServerCertificateError(description: error.description)
    }
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
        description: "the key in \(key) does not belong to the certificate in \(chain)"
      )
    }
    expiry = certificates.map { Int64($0.notValidAfter) }.min() ?? 0
  }

  /// Encrypts a connection before anything is read from it.
  func secure(_ channel: any Channel) throws {
    let handler = NIOSSLServerHandler(context: context)
    let watch = TLSWatch(host: "this client", certificate: { nil })
    try channel.pipeline.syncOperations.addHandlers(handler, watch)
  }
}
