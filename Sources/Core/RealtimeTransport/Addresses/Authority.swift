internal import RealtimeCore

/// A host and an optional port, as in URLs and Host headers.
struct Authority: Equatable {
  /// The host in lower case; an IPv6 address is stored without brackets.
  let host: String
  private(set) var port: Int?

  init?(_ text: some StringProtocol) {
    let lowercased = text.lowercased()
    let name: Substring
    let rest: Substring
    if lowercased.hasPrefix("[") {
      guard let end = lowercased.firstIndex(of: "]") else { return nil }
      name = lowercased[lowercased.index(after: lowercased.startIndex)..<end]
      rest = lowercased[lowercased.index(after: end)...]
      // One colon would be that of a port.
      guard name.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1,
        name.utf8.allSatisfy({ Self.isDigit($0) || "abcdef:.".utf8.contains($0) })
      else { return nil }
    } else {
      let colon = lowercased.firstIndex(of: ":") ?? lowercased.endIndex
      name = lowercased[..<colon]
      rest = lowercased[colon...]
      let marks = "-._".utf8
      guard name.utf8.allSatisfy({ $0.isAlphanumeric || marks.contains($0) }) else { return nil }
    }
    guard !name.isEmpty else { return nil }
    host = String(name)
    if rest.isEmpty { return }
    guard rest.hasPrefix(":"), let number = UInt16(rest.dropFirst()), number > 0 else { return nil }
    port = Int(number)
  }

  /// Parses a host without a port; an IPv6 address is written without brackets.
  init?(host: String) {
    self.init(host.contains(":") ? "[\(host)]" : host)
    guard port == nil else { return nil }
  }

  /// Whether the host is certainly this machine; names ending in `localhost` are reserved for it.
  var isLoopback: Bool {
    host == "localhost" || host.hasSuffix(".localhost") || host == "127.0.0.1" || host == "::1"
  }

  /// Whether the host is an address rather than a name.
  var isAddress: Bool {
    host.contains(":") || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || Self.isDigit($0) }
  }

  /// The same host without the port, if it is the given one.
  func withoutPort(_ usual: Int) -> Authority {
    var bare = self
    if port == usual { bare.port = nil }
    return bare
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }
}

package enum PercentEncoding {
  /// Decodes a text; returns nil if an escape is malformed or the result is not UTF-8.
  package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst()?.hexDigit, let low = rest.popFirst()?.hexDigit
        else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Escapes everything but letters, digits and the marks that official clients leave unescaped.
  package static func encode(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte.isAlphanumeric || marks.contains(byte) {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Escapes the characters that would end a socket's path in a URL.
  static func encodeSocket(_ path: String) -> String {
    guard path.utf8.contains(where: { "?#%".utf8.contains($0) }) else { return path }
    // Works on scalars, because a combining mark after one of these would form another character.
    return path.unicodeScalars
      .map { "?#%".unicodeScalars.contains($0) ? encode(String($0)) : String($0) }.joined()
  }

  private static let digits = Array("0123456789ABCDEF".utf8)
  private static let marks = Set("-_~".utf8)
}
