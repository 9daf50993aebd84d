/// Someone who keeps a view alive and may want its events.
struct Registration: Sendable, Hashable {
  /// Who it is.
  enum Owner: Sendable, Hashable {
    /// A listener of the caller.
    case listener(ListenerID)
    /// The wish to keep a query up to date.
    case keepSynced
    /// A transaction that needs the data of its location.
    case transaction(RequestToken)
  }

  let owner: Owner
  let kinds: Set<EventKind>
}
