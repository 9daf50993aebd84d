/// A reason why a server cannot listen at an address.
package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  package enum Kind: Sendable {
    /// Another server listens there.
    case inUse
    /// The path of a socket is too long or taken by something else.
    case unusablePath
    /// The system refused.
    case failed
  }

  /// The kind of failure.
  package let kind: Kind
  /// What is wrong and what to do.
  package let description: String

  /// Makes an error.
  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
