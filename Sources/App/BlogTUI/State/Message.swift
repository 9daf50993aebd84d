/// One thing to tell the user, shown until the next key.
package struct Message: Hashable, Sendable {
  /// How much it matters.
  package enum Kind: Hashable, Sendable {
    /// Good to know.
    case note
    /// Something went wrong: the text says what, why and what to do.
    case failure
  }

  /// How much it matters.
  package let kind: Kind
  /// What it says.
  package let text: SafeText

  /// Makes a message for something good to know.
  static func note(_ text: String) -> Message {
    Message(kind: .note, text: SafeText(untrusted: text))
  }

  /// Makes a message for something that went wrong.
  static func failure(_ text: String) -> Message {
    Message(kind: .failure, text: SafeText(untrusted: text, limit: 1_200))
  }
}
