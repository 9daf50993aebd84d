/// The pace of a cluster; all of its servers have the same.
package struct LeaseTiming: Sendable, Equatable {
  /// How long a lease counts.
  package var lease = Duration.seconds(4)
  /// How often it is renewed.
  package var renewal = Duration.seconds(1)
  /// How long before its end a server stops leading.
  package var margin = Duration.milliseconds(500)
  /// How soon the storage is asked again after a failure.
  package var retry = Duration.milliseconds(250)
  /// How old a view may be, when a request arrives, that decides where to send it.
  package var freshness = Duration.milliseconds(100)
  /// How long a request waits for a leader.
  package var patience = Duration.seconds(15)

  /// Makes the usual timing.
  package init() {}

  /// How little is left of a lease whose holder may have died.
  var suspicion: Duration { lease - renewal * 3 / 2 }
}
