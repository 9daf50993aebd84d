/// What a listener is removed by.
public struct AuthStateDidChangeListenerHandle: Hashable, Sendable {
  let number: Int
}
