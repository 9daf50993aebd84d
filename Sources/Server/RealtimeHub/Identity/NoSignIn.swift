package import RealtimeCore

/// A verifier for databases that no one can sign in to.
package struct NoSignIn: CredentialVerifier {
  /// Makes a verifier.
  package init() {}

  /// Refuses every credential.
  ///
  /// - Throws: Always a ``CredentialError``.
  package func verify(
    _ authentication: ClientRequest.Authentication,
    at timestamp: Int64
  ) throws(CredentialError) -> VerifiedCredential {
    throw CredentialError(.invalidToken, "this server knows no credentials")
  }
}
