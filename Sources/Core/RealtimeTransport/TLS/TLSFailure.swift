/// Why a connection cannot be encrypted, or must not be trusted.
package struct TLSFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  package enum Kind: Hashable, Sendable {
    /// Nobody who is trusted has signed the certificate of the server.
    case unknownAuthority
    /// The certificate is for another name.
    case wrongName
    /// The certificate is no longer valid.
    case expired
    /// The certificate is not valid yet.
    case notYetValid
    /// What answers does not speak TLS.
    case notTLS
    /// The connection ended before it was encrypted.
    case interrupted
    /// The connection ended without the goodbye of TLS.
    case truncated
    /// The authorities to trust cannot be read.
    case unusableTrustRoots
    /// The two ends have no common ground, or one broke the rules of TLS.
    case failed
  }

  /// The kind of failure.
  package let kind: Kind
  /// What is wrong, in words that follow the name of the server and a colon.
  package let description: String

  /// Makes a failure.
  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
