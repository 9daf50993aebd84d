/// One thing that happened between this program and the database.
package struct WireEvent: Hashable, Sendable, Codable {
  /// What kind of thing.
  package enum Kind: String, CaseIterable, Hashable, Sendable, Codable {
    /// A frame that went to the server.
    case sent
    /// A frame that came from the server.
    case received
    /// Data that changed for an observer.
    case event
    /// A place that is now listened to, or no longer.
    case listener
    /// A write: made, acknowledged or refused.
    case write
    /// An attempt of a transaction: the value read, the value proposed, the verdict.
    case transaction
    /// The connection.
    case connection
  }

  /// What became of a listener or a write.
  package enum Change: Hashable, Sendable, Codable {
    /// It exists now.
    case begun(String)
    /// It no longer exists.
    case ended(String)
  }

  /// The time in milliseconds since 1970.
  package let time: Int64
  /// What kind of thing.
  package let kind: Kind
  /// One line about it.
  package let title: String
  /// All there is to know about it, of any number of lines.
  package let detail: String
  /// What became of a listener or a write, each with a name of its own.
  package let change: Change?

  /// Makes an event.
  package init(
    time: Int64,
    kind: Kind,
    title: String,
    detail: String = "",
    change: Change? = nil
  ) {
    self.time = time
    self.kind = kind
    self.title = title
    self.detail = detail
    self.change = change
  }
}
