private import Glibc
internal import NIOCore
internal import NIOSSL

/// Puts the errors of TLS into words, for the handlers after it.
final class TLSWatch: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let host: String
  private let certificate: () -> NIOSSLCertificate?

  /// Makes a handler, whose place is right after that of TLS.
  ///
  /// - Parameters:
  ///   - host: The host that the certificate of the other end must be for.
  ///   - certificate: The certificate of the other end, as far as it is known.
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
      TLSFailure(.wrongName, "its certificate is not for \(host)")
    case NIOSSLError.noCertificateToValidate: TLSFailure(.failed, "it has shown no certificate")
    case NIOSSLError.uncleanShutdown:
      TLSFailure(.truncated, "it ended the connection without the goodbye of TLS")
    case NIOSSLError.handshakeFailed(.sslError(let stack)): handshakeFailure(stack)
    case let error as NIOSSLError:
      TLSFailure(.failed, "the connection cannot be encrypted (\(error))")
    case let error as BoringSSLError:
      TLSFailure(.failed, "the connection cannot be encrypted (\(error))")
    default: nil
    }
  }

  private func handshakeFailure(_ stack: NIOBoringSSLErrorStack) -> TLSFailure {
    guard !stack.contains(.eofDuringHandshake) else {
      return TLSFailure(
        .interrupted,
        "it closed the connection before it was encrypted; perhaps it does not speak TLS"
      )
    }
    let reasons = stack.map(Self.reason)
    if reasons.contains("CERTIFICATE_VERIFY_FAILED") { return distrust() }
    if reasons.contains(where: Self.plainTextReasons.contains) {
      return TLSFailure(.notTLS, "it does not speak TLS")
    }
    let text = reasons.joined(separator: ", ").lowercased().replacing("_", with: " ")
    return TLSFailure(.failed, "the connection cannot be encrypted (\(text))")
  }

  /// What the library says when the certificate is for somebody else.
  private static let nameErrors: [NIOSSLExtraError] = [
    .failedToValidateHostname, .serverHostnameImpossibleToMatch,
  ]

  /// What the library says about bytes that are no TLS at all.
  private static let plainTextReasons: Set<String> = [
    "HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER",
  ]

  /// The last part of `error:1000007d:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED at …`.
  private static func reason(of error: BoringSSLInternalError) -> String {
    let text = error.description.prefix { $0 != "/" }
    let last = text.split(separator: ":").last ?? ""
    return String(last.prefix { $0 != " " })
  }

  /// Why a certificate is not believed; the library tells no more than that.
  private func distrust() -> TLSFailure {
    guard let certificate = certificate() else {
      return TLSFailure(.unknownAuthority, "its certificate is not trusted")
    }
    let now = time(nil)
    if certificate.notValidAfter < now {
      return TLSFailure(
        .expired,
        "its certificate expired on \(Self.day(certificate.notValidAfter))"
      )
    }
    if certificate.notValidBefore > now {
      let day = Self.day(certificate.notValidBefore)
      return TLSFailure(
        .notYetValid,
        "its certificate is valid from \(day) on; perhaps the clock here is wrong"
      )
    }
    return TLSFailure(
      .unknownAuthority,
      "its certificate is signed by nobody who is trusted here"
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
