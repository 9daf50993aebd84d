/// What a key means after a look at the key table.
package enum KeyMatch<Meaning: Hashable & Sendable>: Hashable, Sendable {
  /// The key, or the sequence it completes, does this.
  case action(Meaning)
  /// The key begins a sequence; the next key decides.
  case pending
  /// The key does nothing here.
  case unbound
}
