/// The bounds that every loop, queue and input of the pure modules respects.
package enum Limits {
  /// Longest key, in bytes of UTF-8.
  package static let keyBytes = 768
  /// Longest path that a client writes, in bytes of UTF-8 with one more for each key.
  package static let pathBytes = 768
  /// Longest path that is stored: a key of exactly 768 bytes at the root is one, as documented.
  package static let storedPathBytes = 769
  /// Most keys from the root to a leaf.
  package static let depth = 32
  /// Longest string, in bytes of UTF-8.
  package static let stringBytes = 10 * 1_024 * 1_024
  /// Deepest nesting that the JSON parser follows.
  package static let jsonDepth = 64
  /// Longest message, in bytes of UTF-8.
  package static let messageBytes = 256 * 1_024 * 1_024
  /// Length of a text frame beyond which a message is cut, in UTF-16 code units.
  package static let segmentUnits = 16_384
  /// Most segments of one message.
  package static let segments = 16_384
  /// Times that a transaction is tried before it gives up.
  package static let transactionTries = 25
}
