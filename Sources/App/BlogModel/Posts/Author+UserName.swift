extension Author {
  /// A reason why a name cannot be a user's.
  package struct NameError: Error, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    package let description: String
  }

  /// The longest name, in characters.
  package static let longestName = 40

  /// Makes the author of a user name; the identifier is the name with illegal characters written as %XX.
  ///
  /// - Parameter name: From 1 to 40 characters, without control characters.
  /// - Throws: ``NameError`` that says what is wrong with the name.
  package init(userName name: String) throws(NameError) {
    if name.isEmpty || name.allSatisfy(\.isWhitespace) {
      throw NameError(description: "a user name cannot be empty")
    }
    if name.count > Self.longestName {
      throw NameError(
        description: "a user name cannot be longer than \(Self.longestName) characters;"
          + " this one has \(name.count)"
      )
    }
    for scalar in name.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator:
        let code = String(scalar.value, radix: 16, uppercase: true)
        throw NameError(
          description: "a user name cannot contain control or invisible characters;"
            + " this one has U+\(code)"
        )
      default: continue
      }
    }
    self.init(uid: Self.key(for: name), name: name)
  }

  /// Percent-encodes the characters that a key cannot have.
  private static func key(for name: String) -> String {
    var key = ""
    for scalar in name.unicodeScalars {
      if ".#$[]/%".unicodeScalars.contains(scalar) {
        key += "%" + String(scalar.value, radix: 16, uppercase: true)
      } else {
        key.unicodeScalars.append(scalar)
      }
    }
    return key
  }
}
