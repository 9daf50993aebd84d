/// The names that databases can have.
package enum DatabaseName {
  /// The database of the blog, and the one that a server opens for clients that name none.
  package static let standard = "hearth"

  /// What a valid name consists of, for messages.
  package static let rule = "1 to 63 small letters, digits and hyphens"

  /// Whether a text can name a database.
  ///
  /// Such a name is also safe as the name of a file.
  package static func isValid(_ name: String) -> Bool {
    (1...63).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
