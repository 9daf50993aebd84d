import RealtimeCore

/// Identifies one of the caller's listeners; never reused in the life of an engine.
package struct ListenerID: Hashable, Sendable {
  /// The number that the caller chose.
  package let number: Int64

  package init(_ number: Int64) {
    self.number = number
  }
}

/// Identifies one of the caller's requests whose completion will be reported; never reused.
package struct RequestToken: Hashable, Sendable {
  /// The number that the caller chose.
  package let number: Int64

  package init(_ number: Int64) {
    self.number = number
  }
}

/// A reason to keep a view alive, and the events that it requests.
struct Registration: Sendable, Hashable {
  enum Owner: Sendable, Hashable {
    case listener(ListenerID)
    /// This query is kept synced; others of the location may be, too.
    case keepSynced(Query)
    /// A transaction that needs the data of its location.
    case transaction(RequestToken)
  }

  let owner: Owner
  let kinds: Set<DataEventType>
}

struct ViewEvent: Sendable, Equatable {
  let owner: Registration.Owner
  let event: DataEvent
}
