#if TLS
private import Glibc
internal import NIOCore
internal import NIOSSL

/// Translates TLS errors for the handlers that follow it in the pipeline.
final class TLSWatch: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let host: String
  private let certificate: () -> NIOSSLCertificate?

  /// Makes a handler, to be added right after the TLS handler.
  init(host: String, certificate: @escaping () -> NIOSSLCertificate?) {
    self.host = host
    self.certificate = certificate
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.fireErrorCaught(failure(error) ?? error)
  }

  private func failure(_ error: any Error) -> TLSFailure? {
    switch error {
    case let error as NIOSSLExtraError where Self.nameErrors.contains(error):
      TLSFailure(.wrongName, description: "its certificate is not for \(host)")
    case NIOSSLError.noCertificateToValidate:
      TLSFailure(.failed, description: "it sent no certificate")
    case NIOSSLError.uncleanShutdown:
      TLSFailure(.truncated, description: "it closed the connection without a TLS close_notify")
    case NIOSSLError.handshakeFailed(.sslError(let stack)): handshakeFailure(stack)
    case let error as NIOSSLError:
      TLSFailure(.failed, description: "TLS failed (\(error))")
    case let error as BoringSSLError:
      TLSFailure(.failed, description: "TLS failed (\(error))")
    default: nil
    }
  }

  private func handshakeFailure(_ stack: NIOBoringSSLErrorStack) -> TLSFailure {
    guard !stack.contains(.eofDuringHandshake) else {
      return TLSFailure(
        .interrupted,
        description:
          "it closed the connection during the TLS handshake; perhaps it does not speak TLS"
      )
    }
    let reasons = stack.map(Self.reason)
    if reasons.contains("CERTIFICATE_VERIFY_FAILED") { return distrust() }
    if reasons.contains(where: Self.plainTextReasons.contains) {
      return TLSFailure(.notTLS, description: "it does not speak TLS")
    }
    let text = reasons.joined(separator: ", ").lowercased().replacing("_", with: " ")
    return TLSFailure(.failed, description: "TLS failed (\(text))")
  }

  /// The library's errors for a certificate of another host.
  private static let nameErrors: [NIOSSLExtraError] = [
    .failedToValidateHostname, .serverHostnameImpossibleToMatch,
  ]

  /// The library's errors for bytes that are not TLS.
  private static let plainTextReasons: Set<String> = [
    "HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER",
  ]

  /// The last part of `error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED …`.
  private static func reason(of error: BoringSSLInternalError) -> String {
    let text = error.description.prefix { $0 != "/" }
    let last = text.split(separator: ":").last ?? ""
    return String(last.prefix { $0 != " " })
  }

  /// Determines why a certificate is not trusted, because the library does not report it.
  private func distrust() -> TLSFailure {
    guard let certificate = certificate() else {
      return TLSFailure(.unknownAuthority, description: "its certificate is not trusted")
    }
    let now = time(nil)
    if certificate.notValidAfter < now {
      return TLSFailure(
        .expired,
        description: "its certificate expired on \(Self.day(certificate.notValidAfter))"
      )
    }
    if certificate.notValidBefore > now {
      let day = Self.day(certificate.notValidBefore)
      return TLSFailure(
        .notYetValid,
        description: "its certificate is not valid until \(day); perhaps the clock here is wrong"
      )
    }
    return TLSFailure(
      .unknownAuthority,
      description: "its certificate is not signed by a trusted authority"
    )
  }

  private static func day(_ seconds: time_t) -> String {
    var seconds = seconds
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let month = parts.tm_mon + 1
    let day = parts.tm_mday
    return "\(parts.tm_year + 1_900)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
  }
}
#endif
