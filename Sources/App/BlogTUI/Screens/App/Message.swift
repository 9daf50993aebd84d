/// A message to the user, shown until the next key.
package struct Message: Hashable, Sendable {
  /// How much it matters.
  package enum Kind: Hashable, Sendable {
    /// Good to know.
    case note
    /// Nothing was done, and nothing went wrong: the text says why.
    case notDone
    /// Something went wrong: the text says what, why and what to do.
    case failure
  }

  package let kind: Kind
  package let text: SafeText

  static func note(_ text: String) -> Message {
    Message(kind: .note, text: SafeText(untrusted: text))
  }

  static func notDone(_ text: String) -> Message {
    Message(kind: .notDone, text: SafeText(untrusted: text))
  }

  static func failure(_ text: String) -> Message {
    Message(kind: .failure, text: SafeText(untrusted: text, limit: 1_200))
  }

  /// What is said until the earlier comments that were asked for are here.
  static let loadingEarlier = note("Loading earlier comments")

  static func unreadable(_ input: UnreadableInput) -> Message {
    switch input {
    case .notASCII:
      failure(
        "Only ASCII can be typed: the locale is not UTF-8. "
          + "Set LC_ALL to C.UTF-8 and start hearth again."
      )
    case .notUTF8:
      failure(
        "What is not UTF-8 cannot be read; in a paste, \u{FFFD} stands for it. "
          + "Set your terminal's encoding to UTF-8."
      )
    }
  }

  /// Says that a field has not taken all that a key or a paste brought; nil if it has.
  ///
  /// The numbers are those of its characters before and after.
  static func cut(_ key: KeyEvent, from before: Int, to after: Int, limit: Int) -> Message? {
    guard case .insert(let text)? = EditCommand(key), after == limit, after - before < text.count
    else { return nil }
    let takes = "field takes \(limit) characters."
    return .failure(text.count > 1 ? "The paste was cut: this \(takes)" : "This \(takes)")
  }

  /// Whether it stays while one types on, since the text lacks what it is about.
  func outlasts(_ key: KeyEvent) -> Bool {
    guard case .insert? = EditCommand(key) else { return false }
    return UnreadableInput.allCases.contains { self == .unreadable($0) }
  }
}

/// The messages that the user got, including those that a later key has hidden.
package struct MessageLog: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    /// The time in milliseconds since 1970.
    package let time: Int64
    package let message: Message
  }

  static let limit = 500

  /// The messages, oldest first.
  package private(set) var entries: [Entry] = []
  /// The message that is shown until the next key.
  package private(set) var current: Message?
  /// How often it was told that something failed or was not done.
  private(set) var failureCount = 0

  mutating func show(_ message: Message?, at time: Int64) {
    current = message
    if let message { add(message, at: time) }
  }

  /// Logs a message without showing it.
  mutating func add(_ message: Message, at time: Int64) {
    if message.kind != .note { failureCount += 1 }
    if entries.last?.message == message, entries.last?.time == time { return }
    entries.append(Entry(time: time, message: message))
    if entries.count > Self.limit { entries.removeFirst(entries.count - Self.limit) }
  }

  /// The messages as the lines of a file.
  package var text: String {
    entries.map { entry in
      "\(Clock.text(entry.time)) \(entry.message.kind == .failure ? "failure" : "note") "
        + entry.message.text.string.replacing("\n", with: " ") + "\n"
    }.joined()
  }
}
