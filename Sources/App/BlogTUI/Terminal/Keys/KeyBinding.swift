/// One row of a key table: which keys do what, where, and how the help screen says it.
package struct KeyBinding<Meaning: Hashable & Sendable, Mode: Hashable & Sendable>: Sendable {
  /// The sequences that all do the same; the first is the one that hints show.
  package let keys: [KeySequence]
  /// What the keys do.
  package let action: Meaning
  /// Where the keys work.
  package let contexts: Set<Mode>
  /// What the help screen says about it.
  package let help: SafeText

  /// Makes a row of the table.
  package init(
    _ keys: [KeySequence],
    _ action: Meaning,
    in contexts: Set<Mode>,
    help: SafeText
  ) {
    self.keys = keys
    self.action = action
    self.contexts = contexts
    self.help = help
  }

  /// The names of all the sequences, such as `j, Down`.
  package var keysText: SafeText {
    SafeText(untrusted: keys.map(\.description).joined(separator: ", "))
  }
}
