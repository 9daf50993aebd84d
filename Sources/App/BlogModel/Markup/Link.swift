/// A web address in a text, without the punctuation after it.
package struct Link: Hashable, Sendable {
  /// The address.
  package let text: String
  /// The host it leads to, with its port; anything before an `@` is not part of it.
  package let host: String

  /// The maximum number of links offered for one text.
  package static let limit = 200

  private static let schemes = ["https://", "http://"]
  private static let closing: [Character: Character] = [")": "(", "]": "[", "}": "{", ">": "<"]

  /// All links of a text, in order.
  ///
  /// - Complexity: O(n) in the length of the text.
  package static func all(in text: String) -> [Link] {
    var links: [Link] = []
    var rest = text[...]
    while links.count < limit, let start = nextStart(in: rest) {
      let end = rest[start...].firstIndex { !isAllowed($0) } ?? rest.endIndex
      if let link = Link(rest[start..<end]) { links.append(link) }
      rest = rest[end...].dropFirst()
    }
    return links
  }

  private static func nextStart(in text: Substring) -> String.Index? {
    text.indices.first { index in schemes.contains { text[index...].hasPrefix($0) } }
  }

  private static func isAllowed(_ character: Character) -> Bool {
    let scalars = character.unicodeScalars
    guard let first = scalars.first, scalars.count == 1 else { return false }
    return isAllowed(first)
  }

  /// Whether a scalar is one of the printable ASCII characters that an address may contain.
  package static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value > 0x20 && scalar.value < 0x7F && !"\"<>\\^`{|}".unicodeScalars.contains(scalar)
  }

  /// Takes the address at the start of a text of allowed characters; nil if there is none.
  init?(_ text: Substring) {
    var address = text
    while let last = address.last {
      if ".,;:!?'".contains(last) {
        address.removeLast()
      } else if let opening = Self.closing[last],
        address.count(where: { $0 == last }) > address.count(where: { $0 == opening })
      {
        address.removeLast()
      } else {
        break
      }
    }
    guard let scheme = Self.schemes.first(where: { address.hasPrefix($0) }) else { return nil }
    let authority = address.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    // `https://bank.com@evil.example/` leads to evil.example.
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    guard !host.isEmpty, !host.hasPrefix(":") else { return nil }
    self.text = String(address)
    self.host = String(host)
  }
}
