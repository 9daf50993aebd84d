private import Foundation

/// A person who writes.
package struct Author: Hashable, Sendable, Codable {
  /// The identifier, a legal key.
  package let uid: String
  /// The name that others see.
  package let name: String

  /// Makes an author.
  package init(uid: String, name: String) {
    self.uid = uid
    self.name = name
  }
}

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

/// The names under which accounts have been seen, and how to show them so that no two are confused.
///
/// Anybody can take any name. As long as one account alone goes by a name, the name says who it is;
/// where another has been seen with the same name, or with one that looks like it, both are shown
/// with a mark that comes from the account and that nobody chooses.
package struct NameBook: Sendable, Equatable {
  /// How many names are remembered; beyond that the book begins anew.
  private static let limit = 20_000

  private var known: Set<Author> = []
  /// The accounts by what their names look like.
  private var accounts: [String: Set<String>] = [:]
  /// What names look like, as far as somebody else looks like that.
  private var shared: Set<String> = []

  /// Makes an empty book.
  package init() {}

  /// Notes that an account goes by a name.
  ///
  /// - Returns: Whether a name that was plain has to be shown with a mark from now on.
  /// - Complexity: O(1) for what is known
  @discardableResult
  package mutating func learn(_ author: Author) -> Bool {
    guard !known.contains(author) else { return false }
    if known.count >= Self.limit { self = NameBook() }
    known.insert(author)
    let look = Self.look(of: author.name)
    accounts[look, default: []].insert(author.uid)
    guard accounts[look]?.count ?? 0 > 1 else { return false }
    return shared.insert(look).inserted
  }

  /// The name as it is to be shown.
  package func shown(_ author: Author) -> String {
    // Nearly always nobody shares a name.
    guard !shared.isEmpty, shared.contains(Self.look(of: author.name)) else { return author.name }
    return "~\(Self.mark(of: author.uid)) \(author.name)"
  }

  /// The mark of an account: five letters and digits.
  package static func mark(of uid: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in uid.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    // The lower bits of this hash are those of the last bytes alone.
    hash ^= hash >> 32
    let digits = Array("abcdefghjkmnpqrstuvwxyz023456789")
    return String((0..<5).map { digits[Int(hash >> ($0 * 5) & 31)] })
  }

  // MARK: Looks

  /// Letters that look like others in most fonts, once they are small and without accents.
  private static let twins: [Character: Character] = {
    let pairs =
      "аa еe оo рp сc хx уy іi јj ѕs ԁd ԛq ԝw һh вb кk мm нh тt гr "
      + "αa οo νv ρp τt υu ιi κk εe χx γy ηn ωw βb "
      + "0o 1l |l il"
    var twins: [Character: Character] = [:]
    for pair in pairs.split(separator: " ") where pair.count == 2 {
      if let first = pair.first, let last = pair.last { twins[first] = last }
    }
    return twins
  }()

  /// What a name looks like: equal for names that a reader takes for the same.
  private static func look(of name: String) -> String {
    let plain = name.decomposedStringWithCompatibilityMapping.lowercased()
    var look = ""
    for scalar in plain.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .control, .format, .spaceSeparator, .lineSeparator,
        .paragraphSeparator:
        continue
      default: break
      }
      let letter = twins[Character(scalar)] ?? Character(scalar)
      look.append(twins[letter] ?? letter)
    }
    return look.replacingOccurrences(of: "rn", with: "m")
  }
}
