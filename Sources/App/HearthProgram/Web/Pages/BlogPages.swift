internal import BlogModel
internal import RealtimeCore
package import RealtimeServer

/// The pages of a blog for readers without a terminal: lists, posts with their comments, and a feed.
///
/// The pages are read-only and show only what the rules let everyone read. They are all below
/// `/blog`, where no request of the REST API can be, since those end in `.json`.
package struct BlogPages: PageSource {
  static let listLength = 20
  static let commentsLength = 50
  static let feedLength = 20

  private let site: Site

  /// Makes the pages of a blog.
  ///
  /// The address is the scheme, host and port under which readers reach the blog, such as
  /// `https://blog.example.org`. The feed uses it; nil if unknown.
  ///
  /// - Throws: ``AddressError`` when the address is not an http or https address.
  package init(title: String, address: String?) throws(AddressError) {
    site = try Site(title: title, address: address)
  }

  package struct AddressError: Error, CustomStringConvertible {
    package let description: String
  }

  package func owns(_ path: String) -> Bool {
    path == "/" || path == "/favicon.ico" || path == "/blog" || path.hasPrefix("/blog/")
  }

  package func page(for request: PageRequest) -> PageStep {
    let before = request.parameter("before").flatMap { PostList.Position($0) }
    let parts = request.segments
    switch (parts.first, parts.count) {
    case (nil, _): return .render { Page.redirect(to: Site.root) }
    case ("favicon.ico", 1): return .render { Page.icon }
    case ("blog", 1): return list(.recent, before: before)
    case ("blog", 2):
      switch parts[1] {
      case "top": return list(.top, before: before)
      case "feed.atom": return feed()
      case "style.css": return .render { Page.style }
      case "icon.svg": return .render { Page.icon }
      default: break
      }
    case ("blog", 3) where parts[1] == "post":
      return post(ChildKey(parts[2]), after: request.parameter("after").map { ChildKey($0) })
    case ("blog", 3) where parts[1] == "author" && BlogPaths.isKey(parts[2]):
      return list(.author(parts[2]), before: before)
    default: break
    }
    return .render { [site] in Layout(site).missing() }
  }

  // MARK: Steps

  private func list(_ kind: PostList.Kind, before: PostList.Position?) -> PageStep {
    .read([kind.read(before: before, limit: Self.listLength + 1)]) { [site] data in
      switch data[0] {
      case .denied: return .render { Layout(site).closed() }
      case .failed(let reason): return .render { Layout(site).unreadable(reason) }
      case .found(let node):
        let list = PostList(kind, from: node, length: Self.listLength, isFirst: before == nil)
        // Counting the comments of a post is cheap, however many there are.
        let counts = list.posts.map { PageRead(.comments(on: $0.key)) }
        return .read(counts) { data in
          let counted = list.counting(data.map(\.childCount))
          return .render {
            Layout(site, naming: counted.posts.map(\.author)).page(of: counted)
          }
        }
      }
    }
  }

  private func post(_ key: ChildKey, after: ChildKey?) -> PageStep {
    let comments = Query(
      index: .key,
      start: after.map { QueryBound(.string($0.text), isInclusive: false) },
      limit: Query.Limit(Self.commentsLength + 1, side: .first)
    )
    let reads = [
      PageRead(Path([.posts, key])),
      PageRead(.comments(on: key), query: comments),
      PageRead(.comments(on: key)),
    ]
    return .read(reads) { [site] data in
      if case .denied = data[0] { return .render { Layout(site).closed() } }
      guard case .found(let node) = data[0], var post = PostEntry(key, from: node) else {
        return .render { Layout(site).missing() }
      }
      post.commentCount = data[2].childCount
      var found: CommentList?
      if case .found(let node) = data[1] { found = CommentList(from: node, isFirst: after == nil) }
      return .render { [post, found] in
        Layout(site, naming: [post.author] + (found?.comments ?? []).map(\.writer))
          .page(of: post, comments: found)
      }
    }
  }

  private func feed() -> PageStep {
    .read([PostList.Kind.recent.read(before: nil, limit: Self.feedLength)]) { [site] data in
      switch data[0] {
      case .denied: .render { Layout(site).closed() }
      case .failed(let reason): .render { Layout(site).unreadable(reason) }
      case .found(let node):
        .render {
          AtomFeed(site: site).page(
            of: PostList(.recent, from: node, length: Self.feedLength, isFirst: true).posts
          )
        }
      }
    }
  }
}

extension PageData {
  /// The number of children found; nil if they could not be read.
  fileprivate var childCount: Int? {
    if case .found(let node) = self { node.childCount } else { nil }
  }
}

struct PostList: Sendable {
  enum Kind: Sendable, Equatable {
    case recent
    case top
    case author(String)
  }

  /// A position in a list, after which the next page begins.
  struct Position: Sendable {
    let stars: Int64
    let key: ChildKey

    init(_ post: PostEntry) {
      stars = post.starCount
      key = post.key
    }

    /// Parses the text of a position; nil if it is not one.
    init?(_ text: String) {
      let parts = text.split(separator: "~", maxSplits: 1)
      guard parts.count == 2, let stars = Int64(parts[0]) else { return nil }
      self.stars = stars
      key = ChildKey(String(parts[1]))
    }

    var text: String { "\(stars)~\(key.text)" }
  }

  let kind: Kind
  var posts: [PostEntry]
  let hasMore: Bool
  let isFirst: Bool

  init(_ kind: Kind, from node: Node, length: Int, isFirst: Bool) {
    self.kind = kind
    self.isFirst = isFirst
    var posts = Array(node.entries { PostEntry($0, from: $1) }.reversed())
    if kind == .top {
      // They arrive ordered by key; posts with the same number of stars stay in that order.
      posts = posts.enumerated().sorted {
        ($1.element.starCount, $0.offset) < ($0.element.starCount, $1.offset)
      }.map(\.element)
    }
    // What is no post takes a place on its page, and must not hide the next one.
    hasMore = node.childCount > length
    self.posts = Array(posts.prefix(length))
  }

  /// The same page with the number of comments filled in for each post.
  func counting(_ counts: [Int?]) -> PostList {
    var list = self
    for (index, count) in counts.enumerated() { list.posts[index].commentCount = count }
    return list
  }
}

/// A page of the comments on a post.
struct CommentList: Sendable {
  let comments: [Comment]
  let hasMore: Bool
  let isFirst: Bool

  init(from node: Node, isFirst: Bool) {
    self.isFirst = isFirst
    hasMore = node.childCount > BlogPages.commentsLength
    comments = Array(
      node.entries { Comment($0.text, from: $1) }.prefix(BlogPages.commentsLength)
    )
  }
}

extension PostList.Kind {
  func read(before: PostList.Position?, limit: Int) -> PageRead {
    let path =
      switch self {
      case .recent, .top: Path([.posts])
      case .author(let uid): Path([.userPosts, ChildKey(uid)])
      }
    let index: Index = self == .top ? .child("starCount") : .key
    let end = before.map { place in
      self == .top
        ? QueryBound(.integer(place.stars), key: .key(place.key), isInclusive: false)
        : QueryBound(.string(place.key.text), isInclusive: false)
    }
    return PageRead(path, query: Query(index: index, end: end, limit: .init(limit, side: .last)))
  }
}

extension Node {
  /// The children that can be read as entries, in the order of their keys.
  func entries<Entry>(_ read: (ChildKey, Node) -> Entry?) -> [Entry] {
    children?.map.compactMap { read($0.key, $0.value) } ?? []
  }
}

extension Path {
  fileprivate static func comments(on post: ChildKey) -> Path { Path(["post-comments", post]) }
}

extension ChildKey {
  fileprivate static let posts: ChildKey = "posts"
  fileprivate static let userPosts: ChildKey = "user-posts"
}

/// The data that all pages of a blog share.
struct Site: Sendable {
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
    let isName = rest.utf8.allSatisfy { $0.isAlphanumeric || "-.:".utf8.contains($0) }
    let host = rest.prefix { $0 != ":" }
    let port = rest.dropFirst(host.count)
    guard isName, !host.isEmpty, port.isEmpty || UInt16(port.dropFirst()).map({ $0 > 0 }) == true
    else { throw problem }
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
