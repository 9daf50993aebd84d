/// One key, or a few keys typed one after another.
package struct KeySequence: Hashable, Sendable, CustomStringConvertible {
  /// The largest number of keys in a sequence.
  package static let longest = 4

  /// The keys in the order in which they are typed; never empty.
  package let keys: [KeyEvent]

  /// Makes the sequence with that name, such as `g g`; nil if one of the names belongs to no key.
  package init?(description: String) {
    let names = description.split(separator: " ")
    guard (1...Self.longest).contains(names.count) else { return nil }
    let keys = names.compactMap { KeyEvent(description: String($0)) }
    guard keys.count == names.count else { return nil }
    self.keys = keys
  }

  /// The names of the keys, separated by blanks.
  package var description: String { keys.map(\.description).joined(separator: " ") }
}

extension KeySequence: ExpressibleByStringLiteral {
  /// Makes the sequence with that name; an unknown key is a programmer error.
  package init(stringLiteral value: StaticString) {
    guard let sequence = KeySequence(description: value.description) else {
      preconditionFailure("no such key: \(value)")
    }
    self = sequence
  }
}

extension KeySequence {
  /// Whether these keys begin the sequence and more have to follow.
  package func continues(_ typed: [KeyEvent]) -> Bool {
    keys.count > typed.count && keys.starts(with: typed)
  }

  /// Whether the two cannot coexist in one context: they are equal, or one begins with the other.
  package func overlaps(_ other: KeySequence) -> Bool {
    keys.starts(with: other.keys) || other.keys.starts(with: keys)
  }
}

/// One row of a key table: the keys, their action, the contexts in which they work, and the
/// description for the help page.
package struct KeyBinding<Meaning: Hashable & Sendable, Mode: Hashable & Sendable>: Sendable {
  /// The sequences that perform the action; hints show the first one.
  package let keys: [KeySequence]
  /// What the keys do.
  package let action: Meaning
  /// The contexts in which the keys work.
  package let contexts: Set<Mode>
  /// The description on the help screen.
  package let help: SafeText

  /// Makes a row of the table.
  package init(
    _ keys: [KeySequence],
    action: Meaning,
    in contexts: Set<Mode>,
    help: SafeText
  ) {
    self.keys = keys
    self.action = action
    self.contexts = contexts
    self.help = help
  }

  /// The names of all sequences, such as `j, Down`.
  package var keysText: SafeText {
    SafeText(untrusted: keys.map(\.description).joined(separator: ", "))
  }
}

/// What a key means according to the key table.
package enum KeyMatch<Meaning: Hashable & Sendable>: Hashable, Sendable {
  /// The key, or the sequence that it completes, performs this action.
  case action(Meaning)
  /// The key begins a sequence; the next key decides.
  case pending
  /// The key does nothing in this context.
  case unbound
}

/// A table of key bindings, with the keys of a sequence that has begun.
///
/// States: idle → (first key of a sequence) → pending ⇄ (next key) → (last key, or any other) →
/// idle. Keys that begin a longer sequence in one of the contexts always wait for the rest, even if
/// they are also bound alone. There is no timeout: a sequence can be typed slowly, and any key that
/// does not continue it ends it.
package struct KeyMap<Meaning: Hashable & Sendable, Mode: Hashable & Sendable>: Sendable {
  /// An action in a context.
  private struct Use: Hashable {
    let action: Meaning
    let context: Mode
  }

  /// The rows, in the order of the help screen.
  package let bindings: [KeyBinding<Meaning, Mode>]
  // Drawing one screen looks up about a dozen of these.
  private let firstKeys: [Use: (sequence: KeySequence, text: SafeText)]
  private let rows: [Mode: [KeyBinding<Meaning, Mode>]]
  /// The action of each sequence, by context.
  private let actions: [Mode: [[KeyEvent]: Meaning]]
  /// The keys that begin a longer sequence, by context.
  private let beginnings: [Mode: Set<[KeyEvent]>]
  /// The first keys of a sequence whose next key has not been typed yet.
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

  /// Returns what the key does in the first of the contexts that binds it.
  ///
  /// A key that continues no sequence does nothing and resets the table.
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

  /// What can follow the pending keys in the context: the remaining keys, and their binding.
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

  /// The rows that apply in the context, in the order of the table.
  package func bindings(in context: Mode) -> [KeyBinding<Meaning, Mode>] {
    rows[context] ?? []
  }

  /// The first sequence for the action in the context, for hints.
  package func key(for action: Meaning, in context: Mode) -> KeySequence? {
    firstKeys[Use(action: action, context: context)]?.sequence
  }

  /// The name of the first sequence for the action in the context.
  package func keyText(for action: Meaning, in context: Mode) -> SafeText? {
    firstKeys[Use(action: action, context: context)]?.text
  }

  /// The sequences that have two meanings in one context, or that begin a longer one.
  ///
  /// A valid table has none.
  package func conflicts(in context: Mode) -> [KeySequence] {
    let sequences = bindings(in: context).flatMap(\.keys)
    var seen: Set<KeySequence> = []
    return sequences.filter { sequence in
      let isRepeated = !seen.insert(sequence).inserted
      return isRepeated || sequences.contains { $0.continues(sequence.keys) }
    }
  }
}
