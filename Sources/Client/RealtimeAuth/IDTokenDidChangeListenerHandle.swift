/// What a listener for tokens is removed by.
public struct IDTokenDidChangeListenerHandle: Hashable, Sendable {
  let number: Int
}
