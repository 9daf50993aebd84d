/// What is to be asked of the server.
enum ListenAction: Hashable, Sendable {
  case start(ListenTarget)
  case stop(ListenTarget)
}
