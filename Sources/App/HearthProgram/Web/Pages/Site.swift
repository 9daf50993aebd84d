internal import BlogModel
internal import RealtimeCore

/// The data that all pages of a blog share.
struct Site: Sendable {
  /// The path of the pages.
  static let root = "/blog/"
  static let feed = "/blog/feed.atom"

  let title: String
  /// The scheme, host and port, such as `https://blog.example.org`; empty if unknown.
  let origin: String
  /// The host; it identifies the blog in identifiers that never change.
  let host: String

  init(title: String, address: String?) throws(BlogPages.AddressError) {
    self.title = title
    guard let address else {
      origin = ""
      host = "localhost"
      return
    }
    let problem = BlogPages.AddressError(
      description: "\"\(address)\" is not the address of a site, such as https://blog.example.org"
    )
    let scheme = ["https://", "http://"].first { address.hasPrefix($0) }
    guard let scheme else { throw problem }
    var rest = address.dropFirst(scheme.count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    let isName = rest.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: ":"):
        true
      default: false
      }
    }
    let host = rest.prefix { $0 != ":" }
    guard isName, !host.isEmpty else { throw problem }
    origin = scheme + rest
    self.host = host.lowercased()
  }

  static func post(_ key: ChildKey) -> String { "\(root)post/\(PlainText.escaped(key.text))" }

  static func author(_ uid: String) -> String { "\(root)author/\(PlainText.escaped(uid))" }

  static func list(_ kind: PostList.Kind) -> String {
    switch kind {
    case .recent: root
    case .top: root + "top"
    case .author(let uid): author(uid)
    }
  }

  static func list(_ kind: PostList.Kind, before: PostEntry) -> String {
    "\(list(kind))?before=\(PlainText.escaped(PostList.Position(before).text))"
  }
}
