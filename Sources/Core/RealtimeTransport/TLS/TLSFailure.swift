/// Why TLS cannot be established, or why the other end cannot be trusted.
package struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    case unknownAuthority
    case wrongName
    case expired
    case notYetValid
    case notTLS
    /// The connection ended during the handshake.
    case interrupted
    /// The connection ended without a TLS close notification.
    case truncated
    case unusableTrustRoots
    /// The two ends have no common parameters, or one violated the protocol.
    case failed
  }

  package let kind: Kind
  /// The reason, worded to follow the name of the server and a colon.
  package let description: String

  init(_ kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}

/// Why a certificate or its key cannot be used.
package struct ServerCertificateError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file and the reason.
  package let description: String
}
