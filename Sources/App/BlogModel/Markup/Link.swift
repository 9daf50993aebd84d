/// A web address in a text, without the punctuation after it.
package struct Link: Hashable, Sendable {
  package let text: String
  /// The host it leads to, with its port; anything before an `@` is not part of it.
  package let host: String

  /// The maximum number of links offered for one text.
  package static let limit = 200

  /// How a link begins.
  static let schemes = ["https://", "http://"]

  /// All links of a text, in order.
  ///
  /// - Complexity: O(n) in the length of the text.
  package static func all(in text: String) -> [Link] {
    var links: [Link] = []
    var rest = text[...]
    while links.count < limit, let start = nextStart(in: rest) {
      let end = rest[start...].firstIndex { !isAllowed($0) } ?? rest.endIndex
      if let link = Link(rest[start..<end].utf8) { links.append(link) }
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
    switch scalar {
    case "\"", "<", ">", "\\", "^", "`", "{", "|", "}": false
    default: scalar.value > 0x20 && scalar.value < 0x7F
    }
  }

  /// Takes the address at the start of the bytes of allowed characters; nil if there is none.
  ///
  /// - Complexity: O(bytes), and O(host) if there is none because the host is missing
  init?(_ bytes: some BidirectionalCollection<UInt8>) {
    guard Self.host(of: bytes) != nil else { return nil }
    // How many more brackets of a kind are closed than opened.
    var (parentheses, brackets) = (0, 0)
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "("): parentheses -= 1
      case UInt8(ascii: ")"): parentheses += 1
      case UInt8(ascii: "["): brackets -= 1
      case UInt8(ascii: "]"): brackets += 1
      default: break
      }
    }
    var address = bytes[...]
    trimming: while let last = address.last {
      switch last {
      case UInt8(ascii: ")") where parentheses > 0: parentheses -= 1
      case UInt8(ascii: "]") where brackets > 0: brackets -= 1
      case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"),
        UInt8(ascii: "!"), UInt8(ascii: "?"), UInt8(ascii: "'"):
        break
      default: break trimming
      }
      address = address.dropLast()
    }
    self.init(delimited: address)
  }

  /// Takes an address whose end is certain; nil if it has no host.
  ///
  /// - Complexity: O(bytes), and O(host) if the host is missing
  init?(delimited bytes: some BidirectionalCollection<UInt8>) {
    guard let host = Self.host(of: bytes) else { return nil }
    self.text = String(decoding: bytes, as: UTF8.self)
    self.host = host
  }

  private static func host(of bytes: some BidirectionalCollection<UInt8>) -> String? {
    guard let scheme = schemes.first(where: { bytes.starts(with: $0.utf8) }) else { return nil }
    let authority = bytes.dropFirst(scheme.utf8.count).prefix { byte in
      byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
    }
    // `https://bank.com@evil.example/` leads to evil.example.
    let host =
      authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...].dropFirst() }
      ?? authority[...]
    guard let first = host.first, first != UInt8(ascii: ":") else { return nil }
    return String(decoding: host, as: UTF8.self)
  }
}
