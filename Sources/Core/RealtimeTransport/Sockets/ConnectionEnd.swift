private import Glibc
internal import NIOCore
internal import NIOPosix

/// Why a connection ended or could not be opened.
package struct ConnectionEnd: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// This end closed it.
    case closed
    case closedByPeer(code: UInt16)
    /// It broke without a closing handshake.
    case lost
    case unreachable
    case timedOut
    /// The database server refused it with an HTTP status.
    case refused(status: Int)
    case notADatabaseServer
    /// TLS could not be established, or the other end cannot be trusted.
    case insecure(TLSFailure.Kind)
    /// The other end violated the protocol or exceeded a limit.
    case protocolViolation
    case slowConsumer
  }

  package let kind: Kind
  /// A sentence that describes what happened.
  package let description: String
  /// The reason alone, in a few words; nil unless the attempt to reach the other end failed, or the
  /// other end said why it closed.
  package let cause: String?

  package init(_ kind: Kind, description: String, cause: String? = nil) {
    self.kind = kind
    self.description = description
    self.cause = cause
  }

  /// Makes the end of an attempt that failed to reach the other end.
  init(_ kind: Kind, of target: ConnectionTarget, because cause: String) {
    self.kind = kind
    self.cause = cause
    description = "cannot connect to \(target.address): \(cause)"
  }

  /// Makes the end of a connection after a TLS failure.
  ///
  /// A connection that was interrupted, even during the handshake, counts as lost, not as insecure.
  init(_ failure: TLSFailure, of target: ConnectionTarget) {
    switch failure.kind {
    case .interrupted, .truncated: kind = .lost
    case .unknownAuthority, .wrongName, .expired, .notYetValid, .notTLS, .unusableTrustRoots,
      .failed:
      kind = .insecure(failure.kind)
    }
    description = "\(target): \(failure)"
    cause = nil
  }
}

/// Describes socket errors for people.
enum FailureText {
  /// The reason, without function names.
  static func describe(_ error: any Error) -> String {
    switch error {
    case let error as IOError: words(of: error.errnoCode)
    case let error as NIOConnectionError:
      if let first = error.connectionErrors.first {
        describe(first.error)
      } else {
        "unknown host"
      }
    case is SocketAddressError.UnknownHost: "unknown host"
    case SocketAddressError.unixDomainSocketPathTooLong:
      "the socket path is longer than \(SocketFile.pathBytes) bytes"
    case let error as TLSFailure: error.description
    case ChannelError.connectTimeout: "no answer"
    default: "\(error)"
    }
  }

  /// The system's description of an error, worded to continue a sentence.
  private static func words(of code: CInt) -> String {
    let text = String(cString: strerror(code))
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
