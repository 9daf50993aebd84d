private import Glibc
internal import NIOCore
internal import NIOPosix

/// Why a connection ended or could not be opened.
package struct ConnectionEnd: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of end.
  package enum Kind: Hashable, Sendable {
    /// This end closed it.
    case closed
    /// The other end closed it.
    case closedByPeer(code: UInt16)
    /// It was lost without a closing handshake.
    case lost
    /// The address could not be reached.
    case unreachable
    /// The connection did not open in time.
    case timedOut
    /// The database server refused it with an HTTP status.
    case refused(status: Int)
    /// The other end is not a database server.
    case notADatabaseServer
    /// TLS could not be established, or the other end must not be trusted.
    case insecure(TLSFailure.Kind)
    /// The other end violated the protocol or exceeded a limit.
    case protocolViolation
    /// The other end reads too slowly.
    case slowConsumer
  }

  /// The kind of end.
  package let kind: Kind
  /// What happened, in a sentence.
  package let description: String

  /// Makes an end.
  package init(_ kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }

  /// Makes the end of a connection whose TLS failed.
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
  }
}

/// Describes socket errors for people.
enum FailureText {
  /// The reason, without names of functions.
  static func describe(_ error: any Error) -> String {
    switch error {
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case let error as NIOConnectionError:
      if let first = error.connectionErrors.first {
        describe(first.error)
      } else {
        "the host \(error.host) is not known"
      }
    case SocketAddressError.unixDomainSocketPathTooLong:
      "the path of the socket is longer than \(SocketFile.pathBytes) bytes"
    case let error as TLSFailure: error.description
    case ChannelError.connectTimeout: "it did not answer in time"
    default: "\(error)"
    }
  }
}
