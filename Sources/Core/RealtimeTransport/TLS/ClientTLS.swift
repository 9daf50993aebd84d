#if TLS
internal import NIOCore
internal import NIOPosix
internal import NIOSSL

struct ClientTLS: Sendable {
  private let context: NIOSSLContext

  /// Loads the trusted authorities, blocking for some milliseconds.
  init(trusting roots: TrustRoots) throws(TLSFailure) {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    switch roots {
    case .system: configuration.trustRoots = .default
    case .file(let path):
      do throws(ServerCertificateError) {
        configuration.trustRoots = .certificates(try PEMFile(path).certificates())
      } catch {
        throw TLSFailure(
          .unusableTrustRoots,
          description: "cannot read the trusted certificates: \(error)"
        )
      }
    }
    do {
      context = try NIOSSLContext(configuration: configuration)
    } catch {
      throw TLSFailure(
        .unusableTrustRoots,
        description: "cannot read this system's trusted certificates (\(error))"
      )
    }
  }

  /// Loads the trusted authorities on a thread that may block.
  static func make(
    trusting roots: TrustRoots,
    on eventLoop: any EventLoop
  ) -> EventLoopFuture<ClientTLS> {
    NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) { try ClientTLS(trusting: roots) }
  }

  /// Encrypts a channel before anything is sent over it.
  ///
  /// - Throws: ``TLSFailure`` if no certificate can be issued for this host.
  func secure(_ channel: any Channel, to host: String) throws {
    let handler: NIOSSLClientHandler
    do {
      // An address is not sent as a server name, but is compared with those in the certificate.
      if (try? SocketAddress(ipAddress: host, port: 0)) != nil {
        handler = try NIOSSLClientHandler(context: context, serverHostname: nil)
      } else {
        handler = try NIOSSLClientHandler._makeSSLClientHandler(
          context: context,
          serverHostname: host
        ) { Self.check($0, isFor: host, on: $1.eventLoop) }
      }
    } catch {
      throw TLSFailure(.wrongName, description: "no certificate can be valid for \"\(host)\"")
    }
    let watch = TLSWatch(host: host, certificate: { [weak handler] in handler?.peerCertificate })
    try channel.pipeline.syncOperations.addHandlers(handler, watch)
  }

  /// Checks that a valid certificate names the host.
  ///
  /// The library also accepts a certificate for the IP address of the connection. An attacker who
  /// can redirect the host name to an address of their own may hold a certificate for that address.
  private static func check(
    _ certificate: NIOSSLCertificate,
    isFor host: String,
    on eventLoop: any EventLoop
  ) -> EventLoopFuture<Void> {
    let isNamed = certificate._subjectAlternativeNames().contains { name in
      name.nameType == .dnsName && CertificateName(name.contents).covers(host)
    }
    guard isNamed else {
      let failure = TLSFailure(.wrongName, description: "its certificate is not for \(host)")
      return eventLoop.makeFailedFuture(failure)
    }
    return eventLoop.makeSucceededVoidFuture()
  }
}

/// A server name in a certificate; its first label may be a wildcard.
struct CertificateName {
  private let text: String

  init(_ bytes: some Sequence<UInt8>) {
    text = String(decoding: Array(bytes), as: UTF8.self).lowercased()
  }

  /// Whether a host matches this name.
  func covers(_ host: String) -> Bool {
    var host = host.lowercased()[...]
    if host.hasSuffix(".") { host = host.dropLast() }
    if text == host { return true }
    guard text.hasPrefix("*."), let dot = host.firstIndex(of: "."), dot > host.startIndex else {
      return false
    }
    return host[dot...] == text.dropFirst()
  }
}
#endif
