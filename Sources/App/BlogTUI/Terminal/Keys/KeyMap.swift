/// A table of key bindings, and the first keys of a sequence that has begun.
///
/// States: idle → (first key of a sequence) → pending ⇄ (next key) → (last key, or any other) → idle.
/// Keys that begin a longer sequence in one of the contexts always wait for the rest, even if they are
/// also bound alone. No clock decides: a sequence can be typed as slowly as one likes, and any key that
/// does not go on with it ends it.
package struct KeyMap<Meaning: Hashable & Sendable, Mode: Hashable & Sendable>: Sendable {
  /// An action where it is possible.
  private struct Use: Hashable {
    let action: Meaning
    let context: Mode
  }

  /// The rows, in the order of the help screen.
  package let bindings: [KeyBinding<Meaning, Mode>]
  // Every screen that is drawn asks for a dozen of these.
  private let firstKeys: [Use: (sequence: KeySequence, text: SafeText)]
  private let rows: [Mode: [KeyBinding<Meaning, Mode>]]
  /// What each sequence means in a context.
  private let actions: [Mode: [[KeyEvent]: Meaning]]
  /// The keys that begin a longer sequence in a context.
  private let beginnings: [Mode: Set<[KeyEvent]>]
  /// The first keys of a sequence whose next key has not come yet.
  package private(set) var pendingKeys: [KeyEvent] = []

  /// Makes a table without pending keys.
  package init(_ bindings: [KeyBinding<Meaning, Mode>]) {
    self.bindings = bindings
    var firstKeys: [Use: (sequence: KeySequence, text: SafeText)] = [:]
    var rows: [Mode: [KeyBinding<Meaning, Mode>]] = [:]
    var actions: [Mode: [[KeyEvent]: Meaning]] = [:]
    var beginnings: [Mode: Set<[KeyEvent]>] = [:]
    for row in bindings {
      for context in row.contexts {
        rows[context, default: []].append(row)
        let use = Use(action: row.action, context: context)
        if firstKeys[use] == nil, let first = row.keys.first {
          firstKeys[use] = (first, SafeText(untrusted: first.description))
        }
        for keys in row.keys.map(\.keys) {
          if actions[context]?[keys] == nil { actions[context, default: [:]][keys] = row.action }
          for count in 1..<max(1, keys.count) {
            beginnings[context, default: []].insert(Array(keys.prefix(count)))
          }
        }
      }
    }
    self.firstKeys = firstKeys
    self.rows = rows
    self.actions = actions
    self.beginnings = beginnings
  }

  /// Tells what the key does in the first of the contexts that knows it.
  ///
  /// A further key that goes on with no sequence does nothing, and the table is idle again.
  package mutating func match(_ key: KeyEvent, in contexts: [Mode]) -> KeyMatch<Meaning> {
    let typed = pendingKeys + [key]
    pendingKeys = []
    for context in contexts {
      if beginnings[context]?.contains(typed) == true {
        pendingKeys = typed
        return .pending
      }
      if let action = actions[context]?[typed] { return .action(action) }
    }
    return .unbound
  }

  /// Forgets the first keys of a sequence.
  package mutating func reset() {
    pendingKeys = []
  }

  /// What can follow the pending keys in the context: the keys that are left, and what they do.
  package func continuations(
    in context: Mode
  ) -> [(keys: [KeyEvent], binding: KeyBinding<Meaning, Mode>)] {
    guard !pendingKeys.isEmpty else { return [] }
    return bindings(in: context).flatMap { row in
      row.keys.filter { $0.continues(pendingKeys) }.map {
        (Array($0.keys.dropFirst(pendingKeys.count)), row)
      }
    }
  }

  /// The rows that work in the context, in the order of the table.
  package func bindings(in context: Mode) -> [KeyBinding<Meaning, Mode>] {
    rows[context] ?? []
  }

  /// The first sequence that does this in the context, for hints.
  package func key(for action: Meaning, in context: Mode) -> KeySequence? {
    firstKeys[Use(action: action, context: context)]?.sequence
  }

  /// The name of that sequence.
  package func keyText(for action: Meaning, in context: Mode) -> SafeText? {
    firstKeys[Use(action: action, context: context)]?.text
  }

  /// The sequences that have two meanings in one context, or that hide a longer one.
  ///
  /// A good table has none.
  package func conflicts(in context: Mode) -> [KeySequence] {
    let sequences = bindings(in: context).flatMap(\.keys)
    var seen: Set<KeySequence> = []
    return sequences.filter { sequence in
      let isRepeated = !seen.insert(sequence).inserted
      return isRepeated || sequences.contains { $0.continues(sequence.keys) }
    }
  }
}
