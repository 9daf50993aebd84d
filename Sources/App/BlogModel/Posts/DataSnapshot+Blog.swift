private import RealtimeCore
internal import RealtimeDatabase

/// Reads what others may have written in any form.
extension DataSnapshot {
  /// The text of a child; nil when it is no text.
  func text(_ key: String) -> String? {
    if case .string(let text)? = node[ChildKey(key)].leafValue { text } else { nil }
  }

  /// The time of a child in milliseconds since 1970; nil when it is none.
  func time(_ key: String) -> Int64? {
    node[ChildKey(key)].leafValue?.number.flatMap { Int64(exactly: $0.rounded()) }
  }
}
