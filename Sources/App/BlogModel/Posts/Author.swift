private import Foundation

package struct Author: Hashable, Sendable, Codable {
  /// The identifier, a legal key.
  package let uid: String
  package let name: String

  package init(uid: String, name: String) {
    self.uid = uid
    self.name = name
  }
}

extension Author {
  package struct NameError: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// The longest name, in characters.
  package static let longestName = 40

  /// Makes the author for a user name; the identifier is the name with illegal characters as %XX.
  ///
  /// A name has from 1 to 40 characters, none of them a control character; blanks around it are
  /// left out.
  ///
  /// - Throws: ``NameError`` if the name is not allowed.
  package init(userName name: String) throws(NameError) {
    let name = name.trimmingCharacters(in: .whitespaces)
    if name.isBlank {
      throw NameError(description: "a user name cannot be empty")
    }
    if name.count > Self.longestName {
      throw NameError(
        description: "a user name cannot be longer than \(Self.longestName) characters;"
          + " this one has \(name.count)"
      )
    }
    // A character may have any number of marks.
    if name.utf16.count > BlogBounds.author {
      throw NameError(description: "a user name cannot have that many accents and marks")
    }
    if let scalar = name.unicodeScalars.first(where: \.isUnfitForNames) {
      let code = String(scalar.value, radix: 16, uppercase: true)
      throw NameError(
        description: "a user name cannot contain control or invisible characters;"
          + " this one has U+\(code)"
      )
    }
    self.init(uid: Self.key(for: name), name: name)
  }

  /// Percent-encodes the characters that are illegal in a key.
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

extension Unicode.Scalar {
  /// Whether nobody could tell a name with it from one without.
  fileprivate var isUnfitForNames: Bool {
    switch properties.generalCategory {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: true
    // Marks are bounded by the length of a name; one of them says that a heart is red.
    case .nonspacingMark: false
    default: isInvisible
    }
  }

  /// Whether it is drawn as nothing, or as a blank that is called a letter or a symbol.
  fileprivate var isInvisible: Bool {
    properties.isDefaultIgnorableCodePoint || self == "\u{2800}"
  }
}

/// The names under which accounts have been seen, and how to display them so that no two are
/// confused.
///
/// Anyone can take any name. As long as only one account uses a name, the name identifies it. Once
/// another account has been seen with the same name or one that looks like it, both are shown with
/// a mark that is derived from the account and that no one can choose.
package struct NameBook: Sendable, Equatable {
  /// How many names are remembered; when they are exceeded, the book starts over.
  private static let limit = 20_000

  private var known: Set<Author> = []
  /// The accounts for each look of a name.
  private var accounts: [String: Set<String>] = [:]
  /// The looks that more than one account shares.
  private var shared: Set<String> = []

  /// Makes a book of the names of some people.
  package init(_ people: [Author] = []) { for person in people { learn(person) } }

  /// Records that an account uses a name, and returns whether the name, plain so far, must be shown
  /// with a mark from this point on.
  ///
  /// - Complexity: O(1) for a known author.
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

  /// A name under which an account has been seen; nil if there is none.
  ///
  /// - Complexity: O(n) in the number of known names.
  package func name(of uid: String) -> String? { known.first { $0.uid == uid }?.name }

  /// The name as it must be displayed.
  package func shown(_ author: Author) -> String {
    // Shared names are rare.
    guard !shared.isEmpty, shared.contains(Self.look(of: author.name)) else { return author.name }
    return "~\(Self.mark(of: author.uid)) \(author.name)"
  }

  /// The mark of an account: five letters and digits.
  package static func mark(of uid: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in uid.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    // The low bits of this hash depend only on the last bytes.
    hash ^= hash >> 32
    let digits = Array("abcdefghjkmnpqrstuvwxyz023456789")
    return String((0..<5).map { digits[Int(hash >> ($0 * 5) & 31)] })
  }

  // MARK: Looks

  /// Letters that look like others in most fonts, in lower case and without accents.
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

  /// The look of a name: equal for names that a reader would confuse.
  private static func look(of name: String) -> String {
    let plain = name.decomposedStringWithCompatibilityMapping.lowercased()
    var look = ""
    for scalar in plain.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .control, .format, .spaceSeparator, .lineSeparator,
        .paragraphSeparator:
        continue
      default: if scalar.isInvisible { continue }
      }
      let letter = twins[Character(scalar)] ?? Character(scalar)
      look.append(twins[letter] ?? letter)
    }
    return look.replacingOccurrences(of: "rn", with: "m")
  }
}
