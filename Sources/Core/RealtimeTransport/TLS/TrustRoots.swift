package enum TrustRoots: Hashable, Sendable {
  case system
  /// Only the authorities in a PEM file.
  ///
  /// The system's authorities are excluded on purpose: a client that names the authority of a
  /// private server does not want any other authority to vouch for it. To trust both, concatenate
  /// the files.
  case file(String)

  /// Ensures that the authorities can be loaded; without TLS, nobody loads them.
  ///
  /// - Throws: ``TLSFailure`` of kind `unusableTrustRoots`.
  package func check() throws(TLSFailure) {
    #if TLS
    _ = try ClientTLS(trusting: self)
    #endif
  }
}
