/// An event for one registration of a view.
struct ViewEvent: Sendable, Equatable {
  let owner: Registration.Owner
  let event: DataEvent
}
