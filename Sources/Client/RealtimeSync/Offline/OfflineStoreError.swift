/// A reason why nothing, or nothing of before, is kept on disk.
package struct OfflineStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of reasons.
  package enum Kind: Hashable, Sendable {
    /// Another process, or another database of this one, has the file.
    case inUse
    /// The file was damaged and has been set aside.
    case damaged
    /// The file cannot be made, read or written.
    case unavailable
  }

  /// The kind of reason.
  package let kind: Kind
  /// What happened, with the file.
  package let description: String

  /// Makes an error.
  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
