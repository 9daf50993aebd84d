/// The authorities whose certificates a client believes.
package enum TrustRoots: Hashable, Sendable {
  /// Those that the system trusts.
  case system
  /// Those of a PEM file, and no others.
  ///
  /// The system's are left out on purpose: who names the authority of a private server does not want
  /// any other in the world to be able to stand in for it. A file that holds both is one `cat` away.
  case file(String)
}
