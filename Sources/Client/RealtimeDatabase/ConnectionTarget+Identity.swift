package import RealtimeTransport

extension ConnectionTarget {
  /// The address and the name of a database, by which things that belong to it are found.
  package var identity: String { "\(self)?ns=\(namespace ?? "")" }
}
