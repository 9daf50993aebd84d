/// What a key means after a look at the key table.
package enum KeyMatch<Action: Hashable & Sendable>: Hashable, Sendable {
  /// The key, or the sequence it completes, does this.
  case action(Action)
  /// The key begins a sequence; the next key decides.
  case pending
  /// The key does nothing here.
  case unbound
}
