import Foundation
import FoundationXML
import RealtimeServer
import TestSupport
import Testing

@testable import HearthProgram

@Suite("Blog pages", .cleansUp)
struct PageTests {
  /// What a malicious user might write.
  private static let hostile = [
    "<script>alert(1)</script>", "</title></head><body onload=x>", "\"><img src=x onerror=y>",
    "' onmouseover='z", "]]><!--", "&lt;b&gt; &#x3c;script&#x3e;", "\u{0}\u{1}\u{8}\u{1B}[2J",
    "\u{202E}evil\u{2066}",
    [0xFFFE, 0xFFFF, 0xFDD0].compactMap { Unicode.Scalar($0 as UInt32) }.map { String($0) }
      .joined(),
    "javascript:alert(1)",
    "[x](javascript:alert(1))", "[x](http://a.example/\"onclick=\"y)", "`</code><script>`",
    "> <script>", "- <script>", "```\n</pre><script>\n```", "a\r\nSet-Cookie: x", "𝕏 é 한 🐈",
  ]

  @Test("User text stays escaped on every page and in the feed")
  func escaping() async throws {
    let reader = try await Reader()
    for (number, text) in Self.hostile.enumerated() {
      let key = Reader.key(1_700_000_000 + Int64(number))
      try await reader.post(key, title: text, body: text, author: text)
      try await reader.put(
        "/post-comments/\(key)/c1",
        ["uid": "<u2>\"", "author": text, "text": text]
      )
    }
    let keys = Self.hostile.indices.map { Reader.key(1_700_000_000 + Int64($0)) }
    let pages = ["/blog/", "/blog/top", "/blog/author/u1", "/blog/feed.atom"]
    for page in pages + keys.map({ "/blog/post/\($0)" }) {
      let answer = try await reader.get(page)
      #expect(answer.status == 200, "\(page)")
      let document = try Document(answer.body)
      #expect(document.problem == nil, "\(page): \(document.problem ?? "")")
      #expect(document.names.isSubset(of: Document.known), "\(page): \(document.names)")
      #expect(document.attributes.isSubset(of: Document.knownAttributes), "\(page)")
      for link in document.links {
        #expect(["/blog/", "http://", "https://"].contains { link.hasPrefix($0) }, "\(link)")
      }
      let isClean = answer.body.unicodeScalars.allSatisfy(PlainText.isShown)
      #expect(isClean, "\(page)")
    }
    // Everything that can be shown is shown.
    let last = try await reader.get("/blog/post/\(keys[keys.count - 1])")
    #expect(last.body.contains("𝕏 é 한 🐈"))
    let first = try await reader.get("/blog/post/\(keys[0])")
    #expect(first.body.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
  }

  @Test("Only what pages say themselves is marked as English")
  func language() async throws {
    let reader = try await Reader()
    let key = Reader.key(1_700_000_000)
    try await reader.post(key, title: "Überschrift", body: "Donaudampfschiff")
    try await reader.put("/post-comments/\(key)/c", ["uid": "u", "author": "Bo", "text": "Esel"])
    for (page, texts) in [("/blog/", 2), ("/blog/post/\(key)", 3)] {
      let body = try await reader.get(page).body
      #expect(body.contains("<html lang=\"en\">"))
      #expect(body.components(separatedBy: " lang=\"\"").count - 1 == texts, "\(body)")
    }
  }

  @Test("Combining marks do not pile up over the text of others")
  func piles() async throws {
    let reader = try await Reader()
    let key = Reader.key(1_700_000_000)
    let pile = "e" + String(repeating: "\u{301}", count: 500)
    try await reader.post(key, title: pile, body: "`\(pile)` \(pile)", author: pile)
    let kept = String(repeating: "\u{301}", count: 8).unicodeScalars
    for page in ["/blog/", "/blog/post/\(key)", "/blog/author/u1", "/blog/feed.atom"] {
      let body = try await reader.get(page).body.unicodeScalars
      #expect(body.contains(kept) && !body.contains(kept + "\u{301}".unicodeScalars), "\(page)")
    }
  }

  @Test("The feed is valid Atom, and its entry IDs survive edits")
  func feed() async throws {
    let reader = try await Reader()
    let empty = try Document(try await reader.get("/blog/feed.atom").body)
    #expect(empty.texts("feed/updated") == ["1970-01-01T00:00:00Z"])
    let (old, new) = (Reader.key(1_700_000_000), Reader.key(1_700_086_400))
    try await reader.post(old, title: "Old", body: "*one*\n\n<two>")
    try await reader.post(new, title: "New")
    let answer = try await reader.get("/blog/feed.atom")
    #expect(answer["Content-Type"] == "application/atom+xml; charset=utf-8")
    let feed = try Document(answer.body)
    #expect(feed.problem == nil && feed.namespaces == ["http://www.w3.org/2005/Atom"])
    #expect(feed.texts("feed/id") == ["tag:blog.example.org,2026:blog"])
    #expect(feed.texts("feed/title") == ["A & B's <blog>"])
    #expect(feed.texts("feed/updated") == ["2023-11-15T22:13:20Z"])
    #expect(feed.texts("feed/entry/title") == ["New", "Old"])
    #expect(feed.texts("feed/entry/updated") == ["2023-11-15T22:13:20Z", "2023-11-14T22:13:20Z"])
    #expect(feed.texts("feed/entry/author/name") == ["Ann", "Ann"])
    #expect(
      feed.texts("feed/entry/content").last
        == "<p dir=\"auto\"><em>one</em></p>\n<p dir=\"auto\">&lt;two&gt;</p>\n"
    )
    #expect(feed.links.contains("https://blog.example.org/blog/feed.atom"))
    #expect(feed.links.contains("https://blog.example.org/blog/post/\(new)"))
    let ids = feed.texts("feed/entry/id")
    #expect(ids == [new, old].map { "tag:blog.example.org,2026:blog/post/\($0)" })
    try await reader.post(old, title: "Old, again", body: "another")
    let edited = try Document(try await reader.get("/blog/feed.atom").body)
    #expect(edited.texts("feed/entry/id") == ids)
    #expect(edited.texts("feed/entry/title") == ["New", "Old, again"])
  }

  @Test("A conditional request gets 304 for a current page and the new page otherwise")
  func caching() async throws {
    let reader = try await Reader()
    let key = Reader.key(1_700_000_000)
    try await reader.post(key)
    for page in ["/blog/", "/blog/post/\(key)", "/blog/feed.atom", "/blog/style.css"] {
      let first = try await reader.get(page)
      let tag = try #require(first["ETag"])
      #expect(first["Cache-Control"]?.hasPrefix("public, max-age=") == true)
      #expect(first["Date"]?.hasSuffix(" GMT") == true)
      for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
        let again = try await reader.get(page, lines: ["If-None-Match: \(known)"])
        #expect(again.status == 304 && again.body.isEmpty && again["ETag"] == tag, "\(known)")
      }
      #expect(try await reader.get(page, lines: ["If-None-Match: \"x\""]).status == 200)
      let head = try await reader.get(page, method: "HEAD")
      #expect(head.body.isEmpty && head["Content-Length"] == "\(first.body.utf8.count)")
    }
    // Dates have a resolution of one second, so the date counts only from the second after the
    // first request.
    var date: String?
    for _ in 0..<2_000 where date == nil { date = try await reader.get("/blog/")["Last-Modified"] }
    let since = try #require(date)
    #expect(try await reader.get("/blog/", lines: ["If-Modified-Since: \(since)"]).status == 304)
    let tag = try #require(try await reader.get("/blog/")["ETag"])
    try await reader.put("/posts/\(key)/starCount", 1)
    #expect(try await reader.get("/blog/", lines: ["If-None-Match: \(tag)"]).status == 200)
    #expect(try await reader.get("/blog/", lines: ["If-Modified-Since: \(since)"]).status == 200)
    // A tag that does not match takes precedence over a date that does.
    let lines = ["If-None-Match: \(tag)", "If-Modified-Since: \(since)"]
    #expect(try await reader.get("/blog/", lines: lines).status == 200)
  }

  @Test("Pages are read-only, run no scripts and accept cross-site navigation")
  func safety() async throws {
    let reader = try await Reader()
    for page in ["/blog/", "/blog/top", "/blog/nowhere", "/blog/feed.atom", "/blog/icon.svg", "/"] {
      // As a browser reports when a user follows a link on another site.
      let answer = try await reader.get(page, lines: ["Sec-Fetch-Site: cross-site"])
      let policy = try #require(answer["Content-Security-Policy"])
      #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("unsafe"))
      #expect(!policy.contains("script-src"))
      #expect(answer["X-Content-Type-Options"] == "nosniff")
      #expect(!answer.body.contains("<script") && !answer.body.contains("style="))
    }
    #expect(try await reader.get("/")["Location"] == "/blog/")
    // Everything else is still closed to web pages.
    let lines = ["Sec-Fetch-Site: same-origin"]
    #expect(try await reader.get("/posts.json", lines: lines).status == 403)
    #expect(try await reader.get("/blog/x.json", lines: lines).status == 403)
    #expect(try await reader.get("/blog/", lines: ["Origin: http://a.example"]).status == 403)
    #expect(try await reader.get("/blog/", method: "POST").status == 405)
    #expect(try await reader.get("/blog/", method: "DELETE").status == 405)
  }

  @Test("The REST API keeps its paths, even below /blog")
  func rest() async throws {
    let reader = try await Reader(rules: #"{"rules":{".read":true}}"#)
    try await reader.put("/blog/post", "data")
    #expect(try await reader.get("/blog/post.json").body == "\"data\"")
    #expect(try await reader.get("/blog/post").status == 404)
    #expect(try await reader.get("/posts").status == 404)
  }

  @Test("Pages show only data that the rules let everyone read")
  func rules() async throws {
    let reader = try await Reader(rules: #"{"rules":{"posts":{".read":"auth != null"}}}"#)
    let key = Reader.key(1_700_000_000)
    try await reader.post(key, title: "Secret")
    for page in ["/blog/", "/blog/top", "/blog/post/\(key)", "/blog/author/u1", "/blog/feed.atom"] {
      let answer = try await reader.get(page)
      #expect(answer.status == 403 && !answer.body.contains("Secret"), "\(page)")
    }
    let half = try await Reader(rules: #"{"rules":{"posts":{".read":true}}}"#)
    try await half.post(key, title: "Open")
    try await half.put("/post-comments/\(key)/c", ["uid": "u", "author": "Bo", "text": "Hidden"])
    // The rules declare no index by stars.
    let top = try await half.get("/blog/top")
    #expect(top.status == 500 && top.body.contains(".indexOn"), "\(top.body)")
    let post = try await half.get("/blog/post/\(key)")
    #expect(post.status == 200 && post.body.contains("Open") && !post.body.contains("Hidden"))
    #expect(!post.body.contains("comment"))
  }

  @Test("Lists and comments are paginated, and each item appears exactly once")
  func pagination() async throws {
    let reader = try await Reader()
    var posts: [String: Any] = [:]
    for number in 0..<47 {
      let value: [String: Any] = [
        "uid": "u1", "author": "Ann", "title": "Post-\(number)-", "body": "b",
        "starCount": number % 5,
      ]
      posts["posts/\(Reader.key(1_700_000_000, number))"] = value
      posts["user-posts/u1/\(Reader.key(1_700_000_000, number))"] = value
    }
    let busy = Reader.key(1_700_000_000, 0)
    for number in 0..<113 {
      posts["post-comments/\(busy)/\(Reader.key(1_700_000_100, number))"] = [
        "uid": "u2", "author": "Bo", "text": "Comment-\(number)-",
      ]
    }
    // What is neither a post nor a comment hides nothing else.
    posts["posts/\(Reader.key(1_700_000_000, 40))x"] = 1
    posts["post-comments/\(busy)/\(Reader.key(1_700_000_100, 20))x"] = 1
    try await reader.put("/", posts, method: "PATCH")
    let newest = (0..<47).reversed().map { "Post-\($0)-" }
    #expect(try await Self.walk("/blog/", reader, "Post-") == newest)
    #expect(try await Self.walk("/blog/author/u1", reader, "Post-") == newest)
    let byStars = (0..<47).sorted { ($0 % 5, $0) > ($1 % 5, $1) }.map { "Post-\($0)-" }
    #expect(try await Self.walk("/blog/top", reader, "Post-") == byStars)
    let comments = (0..<113).map { "Comment-\($0)-" }
    #expect(try await Self.walk("/blog/post/\(busy)", reader, "Comment-") == comments)
    #expect(try await reader.get("/blog/post/\(busy)").body.contains("<h2>114 comments</h2>"))
    #expect(try await reader.get("/blog/?before=0~\(busy)").body.contains("no more posts"))
  }

  /// The texts with a prefix on all pages of a list, in order.
  private static func walk(
    _ start: String,
    _ reader: Reader,
    _ prefix: String
  ) async throws -> [String] {
    var found: [String] = []
    var next: String? = start
    for _ in 0..<10 {
      guard let page = next else { return found }
      let answer = try await reader.get(page)
      try #require(answer.status == 200)
      let document = try Document(answer.body)
      found += document.contents.filter { $0.hasPrefix(prefix) }
      next = document.next?.split(separator: "#").first.map(String.init)
    }
    throw ReaderGivesUp()
  }

  private struct ReaderGivesUp: Error {}

  @Test(
    "An unknown address gets a 404 page",
    arguments: [
      "/blog/nothing", "/blog/post/none", "/blog/post/a%2Fb", "/blog/post/%5B%5D", "/blog/post/",
      "/blog/post/a/b", "/blog/post/\(String(repeating: "x", count: 2_000))", "/blog/author/a%2Eb",
      "/blog/post/.priority", "/blog/post/%E0%A4%A",
    ]
  )
  func missing(page: String) async throws {
    let reader = try await Reader()
    let answer = try await reader.get(page)
    #expect(answer.status == 404 && answer.body.contains("no such page"), "\(answer.status)")
  }

  @Test("Page size is bounded, however long the text is")
  func bounds() async throws {
    let reader = try await Reader()
    let long = String(repeating: "word *and* http://a.example/ ", count: 40_000)
    for number in 0..<6 {
      try await reader.post(Reader.key(1_700_000_000, number), title: long, body: long)
    }
    #expect(try await reader.get("/blog/").body.utf8.count < 50_000)
    let post = try await reader.get("/blog/post/\(Reader.key(1_700_000_000, 3))")
    #expect(post.status == 200 && post.body.contains("The rest is not shown"))
    #expect(post.body.utf8.count < 2_000_000)
  }

  @Test("The feed summarizes posts once it is long, however much their markup takes")
  func longFeed() async throws {
    let reader = try await Reader()
    let table = "a|b\n-|-\n" + String(repeating: "|\n", count: 8_000)
    for number in 0..<20 {
      try await reader.post(Reader.key(1_700_000_000, number), title: "T\(number)", body: table)
    }
    let answer = try await reader.get("/blog/feed.atom")
    #expect(answer.body.utf8.count < 2_000_000)
    let feed = try Document(answer.body)
    #expect(feed.problem == nil && feed.texts("feed/entry/title").count == 20)
    let (contents, summaries) = (feed.texts("feed/entry/content"), feed.texts("feed/entry/summary"))
    #expect(!contents.isEmpty && !summaries.isEmpty && contents.count + summaries.count == 20)
  }

  @Test("A site address must be an HTTP or HTTPS origin")
  func addresses() throws {
    for good in ["https://blog.example.org", "http://localhost:9000", "https://a.example/"] {
      _ = try BlogPages(title: "x", address: good)
    }
    for bad in [
      "blog.example.org", "ftp://a.example", "https://", "https://a/b", "https://a\"b",
      "https://a:", "https://a:b", "https://a:80:80", "https://a:65536",
    ] {
      #expect(throws: BlogPages.AddressError.self) { try BlogPages(title: "x", address: bad) }
    }
  }

  @Test(
    "Times are formatted as ISO 8601 in UTC",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (951_827_696_000, "2000-02-29T12:34:56Z"),
      (1_709_251_199_999, "2024-02-29T23:59:59Z"), (4_102_444_800_000, "2100-01-01T00:00:00Z"),
    ] as [(Int64, String)]
  )
  func times(milliseconds: Int64, text: String) {
    #expect(PageTime(milliseconds).machine == text)
  }
}
