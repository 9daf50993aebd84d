/// One thing that a database did, for people who want to see it at work.
package struct Diagnostic: Sendable, Equatable {
  /// What was done.
  package enum Kind: Sendable, Equatable {
    /// A frame went to the server; credentials are left out.
    case sent
    /// A frame came from the server.
    case received
    /// An observer was told of a change.
    case event
    /// An observer begins to look at a place.
    case observing(observer: Int64)
    /// An observer no longer looks.
    case stopped(observer: Int64)
    /// A write is under way.
    case writing(request: Int64)
    /// A write was answered.
    case written(request: Int64)
    /// The function of a transaction was asked for new data, or a transaction ended.
    case transaction(request: Int64)
    /// The connection changed.
    case connection
  }

  /// When, in milliseconds since 1970 by the clock of this machine.
  package let time: Int64
  /// What was done.
  package let kind: Kind
  /// One line about it.
  package let title: String
  /// Everything else, a line for each part.
  package let details: [String]
}
