internal import BlogModel
internal import RealtimeCore
internal import RealtimeServer

/// The newest posts as an Atom feed (RFC 4287).
///
/// Identifiers are tag URIs (RFC 4151) made of the blog's host and the key of a post, so they stay
/// the same when a post is edited or the blog moves to another scheme or port.
struct AtomFeed {
  /// The length from which the feed leaves the text of further posts to their pages, in bytes.
  private static let longTexts = 512 * 1_024
  /// The length of the summary of such a post, in characters.
  private static let summary = 260

  let site: Site

  /// The feed, with the newest post first.
  func page(of posts: [PostEntry]) -> Page {
    var xml = HTML()
    xml.tag("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n")
    xml.tag("<feed xmlns=\"http://www.w3.org/2005/Atom\">\n")
    xml.element("id", content: "tag:\(site.host),2026:blog")
    xml.element("title", content: site.title)
    link("self", to: Site.feed, type: "application/atom+xml", in: &xml)
    link("alternate", to: Site.root, type: "text/html", in: &xml)
    // A blog without posts counts as unchanged since 1970.
    xml.element("updated", content: time(posts.compactMap(\.createdAt).max()))
    xml.element("generator", content: "Hearth")
    xml.tag("\n")
    for post in posts { entry(post, in: &xml) }
    xml.tag("</feed>\n")
    return Page(
      contentType: "application/atom+xml; charset=utf-8",
      body: Array(xml.text.utf8),
      headerLines: Page.safety,
      lifetime: 300
    )
  }

  private func entry(_ post: PostEntry, in xml: inout HTML) {
    let key = PlainText.escaped(post.key.text)
    xml.tag("<entry>")
    xml.element("id", content: "tag:\(site.host),2026:blog/post/\(key)")
    xml.element("title", content: post.shownTitle)
    link("alternate", to: Site.post(post.key), type: "text/html", in: &xml)
    xml.element("updated", content: time(post.createdAt))
    if post.createdAt != nil { xml.element("published", content: time(post.createdAt)) }
    xml.tag("<author>")
    let name = PlainText.line(post.author.name, limit: Author.longestName)
    xml.element("name", content: name.isEmpty ? "unknown" : name)
    xml.tag("</author>")
    if xml.text.utf8.count < Self.longTexts {
      // This element's text is the HTML of the content.
      let html = MarkedText.html(post.shownBody).text
      xml.element("content", attributes: ["type": "html"], content: html)
    } else {
      xml.element("summary", content: MarkedText.line(post.body, limit: Self.summary))
    }
    xml.tag("</entry>\n")
  }

  private func link(_ relation: String, to path: String, type: String, in xml: inout HTML) {
    xml.void("link", attributes: ["rel": relation, "type": type, "href": site.origin + path])
  }

  private func time(_ milliseconds: Int64?) -> String { PageTime(milliseconds ?? 0).machine }
}
