/// One row of a key table: the keys, their action, the contexts in which they work, and the
/// description for the help page.
package struct KeyBinding: Sendable {
  /// The sequences that perform the action; hints show the first one.
  package let keys: [KeySequence]
  package let action: Action
  package let contexts: Set<Context>
  package let help: SafeText

  /// The names of all sequences, such as `j, Down`.
  package var keysText: SafeText {
    SafeText(untrusted: keys.map(\.description).joined(separator: ", "))
  }
}

/// What a key means according to the key table.
package enum KeyMatch: Hashable, Sendable {
  /// The key, or the sequence that it completes, performs this action.
  case action(Action)
  /// The key begins a sequence; the next key decides.
  case pending
  /// The key does nothing in this context.
  case unbound
}

/// The table of all keys, with the keys of a sequence that has begun.
///
/// States: idle → (first key of a sequence) → pending ⇄ (next key) → (last key, or any other) →
/// idle. Keys that begin a longer sequence in the context always wait for the rest, even if they are
/// also bound alone. There is no timeout: a sequence can be typed slowly, and any key that
/// does not continue it ends it.
package struct KeyTable: Sendable {
  package static let standard = KeyTable(ActionTable.all.map(\.binding))

  /// Makes what every screen needs of the actions before it is asked for; any thread may call this.
  package static func prepare() {
    _ = standard
    _ = ActionTable.hints
  }

  /// The rows, in the order of the help screen.
  package let bindings: [KeyBinding]
  // Drawing one screen looks up about a dozen of these.
  private let firstKeys: [Context: [Action: SafeText]]
  private let rows: [Context: [KeyBinding]]
  /// The action of each sequence, by context.
  private let meanings: [Context: [[KeyEvent]: Action]]
  /// The keys that begin a longer sequence, by context.
  private let beginnings: [Context: Set<[KeyEvent]>]
  /// The first keys of a sequence whose next key has not been typed yet.
  package private(set) var pendingKeys: [KeyEvent] = []

  package init(_ bindings: [KeyBinding]) {
    self.bindings = bindings
    var firstKeys: [Context: [Action: SafeText]] = [:]
    var rows: [Context: [KeyBinding]] = [:]
    var meanings: [Context: [[KeyEvent]: Action]] = [:]
    var beginnings: [Context: Set<[KeyEvent]>] = [:]
    for row in bindings {
      for context in row.contexts {
        rows[context, default: []].append(row)
        if firstKeys[context]?[row.action] == nil, let first = row.keys.first {
          let text = SafeText(untrusted: first.description)
          firstKeys[context, default: [:]][row.action] = text
        }
        for keys in row.keys.map(\.keys) {
          if meanings[context]?[keys] == nil { meanings[context, default: [:]][keys] = row.action }
          for count in 1..<max(1, keys.count) {
            beginnings[context, default: []].insert(Array(keys.prefix(count)))
          }
        }
      }
    }
    self.firstKeys = firstKeys
    self.rows = rows
    self.meanings = meanings
    self.beginnings = beginnings
  }

  /// Returns what the key does in the context.
  ///
  /// A key that continues no sequence does nothing and resets the table.
  package mutating func match(_ key: KeyEvent, in context: Context) -> KeyMatch {
    let typed = pendingKeys + [key]
    pendingKeys = []
    if beginnings[context]?.contains(typed) == true {
      pendingKeys = typed
      return .pending
    }
    return meanings[context]?[typed].map { .action($0) } ?? .unbound
  }

  /// What can follow the pending keys in the context: the remaining keys, and their binding.
  package func continuations(
    in context: Context
  ) -> [(keys: [KeyEvent], binding: KeyBinding)] {
    guard !pendingKeys.isEmpty else { return [] }
    return bindings(in: context).flatMap { row in
      row.keys.filter { $0.continues(pendingKeys) }.map {
        (Array($0.keys.dropFirst(pendingKeys.count)), row)
      }
    }
  }

  package func bindings(in context: Context) -> [KeyBinding] {
    rows[context] ?? []
  }

  /// The name of the first sequence for the action in the context, for hints.
  package func keyText(for action: Action, in context: Context) -> SafeText? {
    firstKeys[context]?[action]
  }
}
