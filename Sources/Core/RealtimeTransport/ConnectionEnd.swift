/// Why a connection is over, or never came to be.
package struct ConnectionEnd: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of end.
  package enum Kind: Hashable, Sendable {
    /// This end closed it.
    case closed
    /// The other end said goodbye.
    case closedByPeer(code: UInt16)
    /// It broke without a goodbye.
    case lost
    /// Nothing could be reached.
    case unreachable
    /// The connection did not open in time.
    case timedOut
    /// A database server refused it with an HTTP status.
    case refused(status: Int)
    /// What answered is not a database server.
    case notADatabaseServer
    /// It could not be encrypted, or whoever answers must not be trusted.
    case insecure(TLSFailure.Kind)
    /// The other end broke the rules of the protocol or passed a limit.
    case protocolViolation
    /// The other end does not read what it is sent.
    case slowConsumer
  }

  /// The kind of end.
  package let kind: Kind
  /// What happened, in a sentence.
  package let description: String

  /// Makes an end.
  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// The end of a connection whose encryption failed.
  ///
  /// One that broke off, also halfway through the handshake, is lost and not mistrusted.
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
