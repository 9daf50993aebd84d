internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// What a client needs to encrypt its connections and to know whom it speaks to.
struct ClientTLS: Sendable {
  private let context: NIOSSLContext

  /// Reads the authorities to trust, which takes some milliseconds and blocks.
  init(trusting roots: TrustRoots) throws(TLSFailure) {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    switch roots {
    case .system: configuration.trustRoots = .default
    case .file(let path):
      do throws(PEMFileError) {
        configuration.trustRoots = .certificates(try PEMFile(path).certificates())
      } catch {
        throw TLSFailure(.unusableTrustRoots, "the authorities to trust cannot be read: \(error)")
      }
    }
    do {
      context = try NIOSSLContext(configuration: configuration)
    } catch {
      throw TLSFailure(
        .unusableTrustRoots,
        "the authorities that this system trusts cannot be read (\(error))"
      )
    }
  }

  /// Reads the authorities to trust on a thread that may block.
  static func make(
    trusting roots: TrustRoots,
    on eventLoop: any EventLoop
  ) -> EventLoopFuture<ClientTLS> {
    NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try ClientTLS(trusting: roots) }
  }

  /// Encrypts a channel before anything is sent over it.
  ///
  /// - Parameters:
  ///   - channel: A channel that is not connected yet.
  ///   - host: The name or the address that the certificate of the server must be for.
  /// - Throws: ``TLSFailure`` when the host cannot stand in a certificate.
  func secure(_ channel: any Channel, to host: String) throws {
    let handler: NIOSSLClientHandler
    do {
      // An address is not sent as a name; it is compared with the addresses in the certificate.
      if (try? SocketAddress(ipAddress: host, port: 0)) != nil {
        handler = try NIOSSLClientHandler(context: context, serverHostname: nil)
      } else {
        handler = try NIOSSLClientHandler._makeSSLClientHandler(
          context: context,
          serverHostname: host
        ) { Self.check($0, isFor: host, on: $1.eventLoop) }
      }
    } catch {
      throw TLSFailure(.wrongName, "\"\(host)\" is not a name that a certificate can be for")
    }
    let watch = TLSWatch(host: host, certificate: { [weak handler] in handler?.peerCertificate })
    try channel.pipeline.syncOperations.addHandlers(handler, watch)
  }

  /// Whether a certificate that is valid names the host itself.
  ///
  /// The library is content with the address that was connected to. Whoever can lie about the address
  /// of a host may well have a certificate for their own.
  private static func check(
    _ certificate: NIOSSLCertificate,
    isFor host: String,
    on eventLoop: any EventLoop
  ) -> EventLoopFuture<Void> {
    let isNamed = certificate._subjectAlternativeNames().contains { name in
      name.nameType == .dnsName && CertificateName(name.contents).covers(host)
    }
    guard isNamed else {
      let failure = TLSFailure(.wrongName, "its certificate is not for \(host)")
      return eventLoop.makeFailedFuture(failure)
    }
    return eventLoop.makeSucceededVoidFuture()
  }
}
