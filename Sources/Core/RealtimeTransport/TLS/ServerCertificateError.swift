/// Why a server cannot encrypt its connections.
package struct ServerCertificateError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Which file it is, and what is wrong with it.
  package let description: String
}
