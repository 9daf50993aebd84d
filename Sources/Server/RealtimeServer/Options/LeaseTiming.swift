/// The lease timing of a cluster, which must be the same on all of its servers.
package struct LeaseTiming: Sendable, Equatable {
  /// How long a lease is valid.
  package var lease = Duration.seconds(4)
  /// How often it is renewed.
  package var renewal = Duration.seconds(1)
  /// How long before the end of its lease a server stops leading.
  package var margin = Duration.milliseconds(500)
  /// How soon a server asks the storage again after a failure.
  package var retry = Duration.milliseconds(250)
  /// The greatest age at which a view may still decide where a request is sent.
  package var freshness = Duration.milliseconds(100)
  /// How long a request waits for a leader.
  package var patience = Duration.seconds(15)
  /// How long a database whose stored data is damaged is not read again.
  ///
  /// It stays damaged until somebody repairs it, and reading it takes long.
  package var rest = Duration.seconds(15)

  package init() {}
}
