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
  package var detail = ""
  /// The change to a listener or a write, each of which has a name of its own.
  package var change: Change?
  /// The name that all events of one transaction share; nil for other events.
  package var group: String?
  /// The number of bytes of a frame; nil if it is unknown, or for other events.
  package var size: Int?
  /// The path that the event is about; nil for frames, which name theirs, and if there is none.
  package var path: String?
  /// The names of the writes and transactions that a frame carries; nil for none.
  package var carried: [String]?
  /// What the user did that caused a write or a transaction; nil if it is unknown.
  package var cause: String?
}

extension WireEvent {
  package init(time: Int64, kind: Kind, title: String) {
    self.init(time: time, kind: kind, title: title, detail: "")
  }
}
