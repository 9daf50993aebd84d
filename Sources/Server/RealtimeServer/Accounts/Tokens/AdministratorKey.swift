private import Crypto

/// The secret that makes whoever knows it an administrator.
package struct AdministratorKey: Sendable, CustomStringConvertible, CustomReflectable {
  private let digest: [UInt8]

  /// Fewest bytes of a secret.
  package static let minimumBytes = 32

  /// Takes a secret of visible ASCII, as a header can have it; nil when it is too short to be one.
  ///
  /// - Complexity: O(length)
  package init?(_ secret: String) {
    guard secret.utf8.count >= Self.minimumBytes,
      secret.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    digest = Self.digest(of: secret)
  }

  /// Whether a text is the secret; the time tells nothing about it.
  package func matches(_ text: String) -> Bool {
    ConstantTime.areEqual(Self.digest(of: text), digest)
  }

  package var description: String { "an administrator's key" }

  package var customMirror: Mirror { Mirror(self, children: []) }

  private static func digest(of text: String) -> [UInt8] {
    Array(SHA256.hash(data: Array(text.utf8)))
  }
}
