/// Names one listener of the caller; never used twice in the life of an engine.
package struct ListenerID: Hashable, Sendable {
  /// The number the caller chose.
  package let number: Int64

  /// Makes a name.
  package init(_ number: Int64) {
    self.number = number
  }
}

/// Names one request of the caller whose completion will be reported; never used twice.
package struct RequestToken: Hashable, Sendable {
  /// The number the caller chose.
  package let number: Int64

  /// Makes a name.
  package init(_ number: Int64) {
    self.number = number
  }
}

/// A reason to keep a view alive, and the events that are wanted of it.
struct Registration: Sendable, Hashable {
  /// Who it is.
  enum Owner: Sendable, Hashable {
    /// A listener of the caller.
    case listener(ListenerID)
    /// The query is kept synced.
    case keepSynced
    /// A transaction that needs the data of its location.
    case transaction(RequestToken)
  }

  let owner: Owner
  let kinds: Set<EventKind>
}

/// An event for one registration of a view.
struct ViewEvent: Sendable, Equatable {
  let owner: Registration.Owner
  let event: DataEvent
}
