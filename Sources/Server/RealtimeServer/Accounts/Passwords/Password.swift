private import Foundation

/// A password as somebody typed it.
///
/// It is taken in the canonical composed form of Unicode (NFC), since keyboards differ in how they
/// send an é; beyond that every character counts, blanks and case included. It never describes
/// itself: there is no way from here into a log.
package struct Password: Sendable, CustomStringConvertible, CustomReflectable {
  /// What is hashed.
  let bytes: [UInt8]

  /// Why a text cannot be a password.
  package enum Weakness: Error {
    /// It has less than six characters.
    case short
    /// It has more bytes than are looked at.
    case long
  }

  /// Fewest characters.
  package static let minimumLength = 6
  /// Most bytes.
  package static let maximumBytes = 4_096

  /// Takes a text that somebody signs in with, of any length up to the bound.
  ///
  /// - Throws: ``Weakness/long`` when it is longer.
  package init(_ text: String) throws(Weakness) {
    guard text.utf8.count <= Self.maximumBytes else { throw .long }
    bytes = Array(text.precomposedStringWithCanonicalMapping.utf8)
    guard bytes.count <= Self.maximumBytes else { throw .long }
  }

  /// Takes a text that is to be somebody's password from now on.
  ///
  /// - Throws: ``Weakness`` when it is too short or too long.
  package init(new text: String) throws(Weakness) {
    try self.init(text)
    guard text.count >= Self.minimumLength else { throw .short }
  }

  package var description: String { "a password" }

  package var customMirror: Mirror { Mirror(self, children: []) }
}
