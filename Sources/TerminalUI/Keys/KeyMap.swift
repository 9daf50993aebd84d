/// A table of key bindings, and the first key of a sequence that has begun.
///
/// States: idle → (first key of a sequence) → pending → (any key) → idle. A key that begins a
/// sequence in one of the contexts always waits for the second one, even if it is also bound alone.
package struct KeyMap<Action: Hashable & Sendable, Context: Hashable & Sendable>: Sendable {
  /// The rows, in the order of the help screen.
  package let bindings: [KeyBinding<Action, Context>]
  /// The first key of a sequence whose second key has not come yet.
  package private(set) var pendingKey: KeyEvent?

  /// Makes a table without a pending key.
  package init(_ bindings: [KeyBinding<Action, Context>]) {
    self.bindings = bindings
  }

  /// Tells what the key does in the first of the contexts that knows it.
  ///
  /// A second key that completes no sequence does nothing, and the table is idle again.
  package mutating func match(_ key: KeyEvent, in contexts: [Context]) -> KeyMatch<Action> {
    if let first = pendingKey {
      pendingKey = nil
      return action(of: KeySequence(first, key), in: contexts).map { .action($0) } ?? .unbound
    }
    for context in contexts {
      let rows = bindings.filter { $0.contexts.contains(context) }
      if rows.contains(where: { row in
        row.keys.contains { $0.first == key && $0.second != nil }
      }) {
        pendingKey = key
        return .pending
      }
      if let action = action(of: KeySequence(key), in: [context]) { return .action(action) }
    }
    return .unbound
  }

  /// Forgets the first key of a sequence.
  package mutating func reset() {
    pendingKey = nil
  }

  /// The rows that work in the context, in the order of the table.
  package func bindings(in context: Context) -> [KeyBinding<Action, Context>] {
    bindings.filter { $0.contexts.contains(context) }
  }

  /// The first sequence that does this in the context, for hints.
  package func key(for action: Action, in context: Context) -> KeySequence? {
    bindings.lazy.filter { $0.action == action && $0.contexts.contains(context) }
      .compactMap(\.keys.first).first
  }

  /// The sequences that have two meanings in one context, or that hide a longer one.
  ///
  /// A good table has none.
  package func conflicts(in context: Context) -> [KeySequence] {
    let sequences = bindings(in: context).flatMap(\.keys)
    var seen: Set<KeySequence> = []
    return sequences.filter { sequence in
      let isRepeated = !seen.insert(sequence).inserted
      let isHidden =
        sequence.second == nil
        && sequences.contains { $0.first == sequence.first && $0.second != nil }
      return isRepeated || isHidden
    }
  }

  private func action(of sequence: KeySequence, in contexts: [Context]) -> Action? {
    for context in contexts {
      let row = bindings.first { $0.contexts.contains(context) && $0.keys.contains(sequence) }
      if let row { return row.action }
    }
    return nil
  }
}
