#if !TLS
internal import NIOCore

// What stands for TLS in a program that was built without it; nobody can make a value of these types.

extension TLSFailure {
  /// The failure of everything that needs TLS.
  static let leftOut = TLSFailure(
    .failed,
    description:
      "this program was built without TLS, which Full brings, a trait of RealtimeDatabase's package"
  )
}

/// The TLS configuration of a client, which does not exist.
struct ClientTLS: Sendable {
  private init() {}

  static func make(
    trusting roots: TrustRoots,
    on eventLoop: any EventLoop
  ) -> EventLoopFuture<ClientTLS> {
    eventLoop.makeFailedFuture(TLSFailure.leftOut)
  }

  func secure(_ channel: any Channel, to host: String) throws { throw TLSFailure.leftOut }
}

/// A server's certificate, which cannot be loaded.
package struct ServerCertificate: Sendable {
  /// The expiry of the certificate, in seconds since 1970.
  package let expiry: Int64

  /// Refuses every certificate.
  ///
  /// - Throws: ``ServerCertificateError``, which names what is missing.
  package init(chain: String, key: String) throws(ServerCertificateError) {
    throw ServerCertificateError(description: TLSFailure.leftOut.description)
  }

  func secure(_ channel: any Channel) throws { throw TLSFailure.leftOut }
}
#endif
