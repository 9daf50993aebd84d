/// An event between this program and the database.
package struct WireEvent: Hashable, Sendable, Codable {
  package enum Kind: String, CaseIterable, Hashable, Sendable, Codable {
    case sent
    case received
    /// Data that changed for an observer.
    case event
    /// A path to which the program starts or stops listening.
    case listener
    /// A write: made, acknowledged or refused.
    case write
    /// An attempt of a transaction: the value read, the value proposed, the verdict.
    case transaction
    case connection
  }

  /// The beginning or end of a listener or a write.
  package enum Change: Hashable, Sendable, Codable {
    case begun(String)
    case ended(String)
  }

  /// The time in milliseconds since 1970.
  package let time: Int64
  package let kind: Kind
  /// A summary on one line.
  package internal(set) var title: String
  /// All details, on any number of lines.
  package internal(set) var detail: String
  /// The change to a listener or a write, each of which has a name of its own.
  package let change: Change?
  /// The name that all events of one transaction share; nil for other events.
  package let group: String?
  /// The number of bytes of a frame; nil if it is unknown, or for other events.
  package let size: Int?
  /// The path that the event is about; nil for frames, which name theirs, and if there is none.
  package let path: String?
  /// The names of the writes and transactions that a frame carries; nil for none.
  package let carried: [String]?
  /// What the user did that caused a write or a transaction; nil if it is unknown.
  package let cause: String?

  package init(
    time: Int64,
    kind: Kind,
    title: String,
    detail: String = "",
    change: Change? = nil,
    group: String? = nil,
    size: Int? = nil,
    path: String? = nil,
    carried: [String]? = nil,
    cause: String? = nil
  ) {
    self.time = time
    self.kind = kind
    self.title = title
    self.detail = detail
    self.change = change
    self.group = group
    self.size = size
    self.path = path
    self.carried = carried
    self.cause = cause
  }
}
