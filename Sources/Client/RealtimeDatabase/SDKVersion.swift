/// The version of this library, as it tells servers.
package enum SDKVersion {
  /// The version, three numbers with dots.
  package static let current = "0.1.0"
}
