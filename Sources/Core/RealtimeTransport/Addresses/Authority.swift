/// A host with an optional port, as URLs and Host headers write it.
struct Authority: Equatable {
  /// The host in lower case, an IPv6 address without its brackets.
  let host: String
  let port: Int?

  init?(_ text: some StringProtocol) {
    let lowercased = text.lowercased()
    let name: Substring
    let rest: Substring
    if lowercased.hasPrefix("[") {
      guard let end = lowercased.firstIndex(of: "]") else { return nil }
      name = lowercased[lowercased.index(after: lowercased.startIndex)..<end]
      rest = lowercased[lowercased.index(after: end)...]
      guard name.contains(":"), name.utf8.allSatisfy(Self.isAddressByte) else { return nil }
    } else {
      let colon = lowercased.firstIndex(of: ":") ?? lowercased.endIndex
      name = lowercased[..<colon]
      rest = lowercased[colon...]
      guard name.utf8.allSatisfy(Self.isNameByte) else { return nil }
    }
    guard !name.isEmpty else { return nil }
    host = String(name)
    guard !rest.isEmpty else {
      port = nil
      return
    }
    guard rest.hasPrefix(":"), let number = UInt16(rest.dropFirst()), number > 0 else { return nil }
    port = Int(number)
  }

  /// A host alone, an IPv6 address without brackets.
  init?(host: String) {
    self.init(host.contains(":") ? "[\(host)]" : host)
    guard port == nil else { return nil }
  }

  /// Whether the host can only be this machine; nobody else can have names that end in `localhost`.
  var isLoopback: Bool {
    host == "localhost" || host.hasSuffix(".localhost") || host == "127.0.0.1" || host == "::1"
  }

  /// Whether the host is an address rather than a name.
  var isAddress: Bool {
    host.contains(":") || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || Self.isDigit($0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"):
      true
    default: isDigit(byte)
    }
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: ":"), UInt8(ascii: "."): true
    default: isDigit(byte)
    }
  }
}
