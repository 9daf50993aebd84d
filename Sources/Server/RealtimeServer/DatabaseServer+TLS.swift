internal import Logging
internal import NIOCore
internal import RealtimeTransport

extension DatabaseServer {
  /// Reads the certificate and its key again, for the connections to come; open ones stay open.
  ///
  /// Nothing happens without ``Options/tls``. When a file cannot be used, the old certificate stays.
  ///
  /// - Throws: ``DatabaseServerError`` that names the file, or when the server has stopped.
  public func reloadCertificate() async throws {
    guard let certificate = try readCertificate() else { return }
    let isDone = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
      var isRunning = false
      ending.whileRunning {
        isRunning = true
        core.eventLoop.execute { [core] in
          core.value.certificate = certificate
          for listener in core.value.listeners where listener.address.isSecure {
            _ = listener.replaceCertificate(certificate)
          }
          continuation.resume(returning: true)
        }
      }
      if !isRunning { continuation.resume(returning: false) }
    }
    guard isDone else { throw DatabaseServerError(.failed, "the server has stopped") }
  }
}

extension DatabaseServer.TLS {
  /// How long before its end the log warns of it, in milliseconds.
  private static let notice: Int64 = 14 * 86_400_000

  /// Reads the files, and warns when clients will not believe them for long.
  func certificate(
    _ logger: Logger,
    now: Int64
  ) throws(DatabaseServerError) -> ServerCertificate {
    let certificate: ServerCertificate
    do throws(ServerCertificateError) {
      certificate = try ServerCertificate(chain: certificateChain, key: privateKey)
    } catch {
      throw DatabaseServerError(error)
    }
    let left = certificate.expiry * 1_000 - now
    if left < 0 {
      logger.warning("the certificate in \(certificateChain) has expired")
    } else if left < Self.notice {
      logger.warning("the certificate in \(certificateChain) expires in \(left / 86_400_000) days")
    }
    return certificate
  }
}
