internal import BlogModel
internal import RealtimeCore
internal import RealtimeServer

/// Assembles the HTML pages.
///
/// They are in English, but nothing tells the language of what people have written: its `lang` is
/// empty, so that no browser hyphenates it, or reads it aloud, as English.
struct Layout {
  /// The length of a post's excerpt in a list, in characters.
  private static let excerpt = 260

  private let site: Site
  private let names: NameBook

  init(_ site: Site, naming people: [Author] = []) {
    self.site = site
    names = NameBook(people)
  }

  // MARK: Pages

  func page(of list: PostList) -> Page {
    var main = HTML()
    var title = site.title
    switch list.kind {
    case .recent: break
    case .top: title = "Top posts · \(site.title)"
    case .author(let uid):
      let name = list.posts.first.map { shown($0.author) } ?? PlainText.line(uid, limit: 40)
      title = "\(name) · \(site.title)"
      main.tag("<h1 class=\"who\"><small>Posts by</small> <bdi>")
      main.put(name)
      main.tag("</bdi></h1>\n")
    }
    if list.posts.isEmpty {
      main.tag("<p class=\"empty\">")
      main.put(list.isFirst ? "Nothing has been written here yet." : "There are no more posts.")
      main.tag("</p>\n")
    }
    for post in list.posts { main.append(entry(post, in: list.kind)) }
    main.append(turns(of: list))
    return document(title: title, current: list.kind, main: main)
  }

  /// A post with a page of its comments; nil if not everyone may read the comments.
  func page(of post: PostEntry, comments: CommentList?) -> Page {
    var main = HTML()
    main.tag("<article>\n<h1 lang=\"\" dir=\"auto\">")
    main.put(post.shownTitle)
    main.tag("</h1>\n<p class=\"meta\">")
    main.append(byline(post.author, at: post.createdAt, isExact: true))
    main.append(stars(post.starCount))
    main.tag("</p>\n<div class=\"prose\" lang=\"\">\n")
    main.append(MarkedText.html(post.shownBody))
    main.tag("</div>\n</article>\n")
    if let comments { main.append(section(of: comments, on: post)) }
    return document(
      title: "\(post.shownTitle) · \(site.title)",
      summary: MarkedText.line(post.body, limit: 200),
      current: nil,
      main: main
    )
  }

  /// The page for an address where there is nothing.
  func missing() -> Page {
    note(
      status: 404,
      title: "Not here",
      "There is no such page. Its author may have deleted it."
    )
  }

  /// The page for a list that the server cannot read, and why.
  func unreadable(_ reason: String) -> Page {
    note(
      status: 500,
      title: "Not readable",
      "The server cannot read this list: \(reason). Whoever runs it can change that."
    )
  }

  /// The page for a blog whose rules forbid reading without an account.
  func closed() -> Page {
    note(
      status: 403,
      title: "For members",
      "Only people with an account can read this blog. In a terminal, hearth signs you in."
    )
  }

  private func note(status: Int, title: String, _ text: String) -> Page {
    var main = HTML()
    main.element("h1", content: title)
    main.element("p", attributes: ["class": "lead"], content: text)
    var page = document(title: "\(title) · \(site.title)", current: nil, main: main)
    page.status = status
    return page
  }

  // MARK: Parts

  private func entry(_ post: PostEntry, in kind: PostList.Kind) -> HTML {
    var html = HTML()
    html.tag("<article class=\"entry\">\n<h2 lang=\"\" dir=\"auto\">")
    html.element("a", attributes: ["href": Site.post(post.key)], content: post.shownTitle)
    html.tag("</h2>\n")
    let excerpt = MarkedText.line(post.body, limit: Self.excerpt)
    if !excerpt.isEmpty {
      html.element(
        "p",
        attributes: ["class": "excerpt", "lang": "", "dir": "auto"],
        content: excerpt
      )
    }
    html.tag("\n<p class=\"meta\">")
    html.append(byline(post.author, at: post.createdAt, isExact: false))
    html.append(stars(post.starCount))
    if let count = post.commentCount, count > 0 {
      html.tag("<span>")
      html.element(
        "a",
        attributes: ["href": "\(Site.post(post.key))#comments"],
        content: count == 1 ? "1 comment" : "\(count) comments"
      )
      html.tag("</span>")
    }
    html.tag("</p>\n</article>\n")
    return html
  }

  private func section(of list: CommentList, on post: PostEntry) -> HTML {
    let place = Site.post(post.key)
    var html = HTML()
    html.tag("<section id=\"comments\">\n<h2>")
    switch post.commentCount {
    case 0: html.put("No comments")
    case 1: html.put("1 comment")
    case let count?: html.put("\(count) comments")
    case nil: html.put("Comments")
    }
    html.tag("</h2>\n<ol class=\"comments\">\n")
    for comment in list.comments {
      html.tag("<li>\n<p class=\"meta\">")
      html.append(byline(comment.writer, at: comment.createdAt, isExact: true))
      html.tag("</p>\n<div class=\"prose\" lang=\"\">\n")
      html.append(MarkedText.html(comment.shownText))
      html.tag("</div>\n</li>\n")
    }
    html.tag("</ol>\n")
    if list.hasMore || !list.isFirst {
      html.tag("<nav class=\"turn\" aria-label=\"Pages of comments\">")
      if !list.isFirst {
        html.element("a", attributes: ["href": "\(place)#comments"], content: "← First comments")
      }
      if list.hasMore, let last = list.comments.last {
        let next = "\(place)?after=\(PlainText.escaped(last.id))#comments"
        html.element(
          "a",
          attributes: ["class": "next", "href": next],
          content: "More comments →"
        )
      }
      html.tag("</nav>\n")
    }
    html.tag("</section>\n")
    return html
  }

  private func turns(of list: PostList) -> HTML {
    var html = HTML()
    guard list.hasMore || !list.isFirst else { return html }
    html.tag("<nav class=\"turn\" aria-label=\"Pages\">")
    if !list.isFirst {
      let text = list.kind == .top ? "← Most stars" : "← Newest"
      html.element("a", attributes: ["href": Site.list(list.kind)], content: text)
    }
    if list.hasMore, let last = list.posts.last {
      let text = list.kind == .top ? "Fewer stars →" : "Older →"
      html.element(
        "a",
        attributes: ["class": "next", "rel": "next", "href": Site.list(list.kind, before: last)],
        content: text
      )
    }
    html.tag("</nav>\n")
    return html
  }

  private func byline(_ author: Author, at time: Int64?, isExact: Bool) -> HTML {
    var html = HTML()
    let name = shown(author)
    html.tag("<span><bdi>")
    if author.uid.isEmpty {
      html.element("span", content: name)
    } else {
      let place = Site.author(author.uid)
      html.element("a", attributes: ["class": "author", "href": place], content: name)
    }
    html.tag("</bdi></span>")
    if let time {
      let time = PageTime(time)
      html.tag("<span>")
      html.element(
        "time",
        attributes: ["datetime": time.machine],
        content: isExact ? time.dateAndClock : time.date
      )
      html.tag("</span>")
    }
    return html
  }

  private func stars(_ count: Int64) -> HTML {
    guard count > 0 else { return HTML() }
    var html = HTML()
    html.tag("<span class=\"stars\" title=\"")
    html.put(count == 1 ? "1 star" : "\(count) stars")
    html.tag("\"><span aria-hidden=\"true\">★</span> ")
    html.put("\(count)")
    html.tag("<span class=\"unseen\">")
    html.put(count == 1 ? " star" : " stars")
    html.tag("</span></span>")
    return html
  }

  private func shown(_ author: Author) -> String {
    let name = PlainText.line(names.shown(author), limit: Author.longestName + 8)
    return name.isEmpty ? "unknown" : name
  }

  // MARK: The document around

  private func document(
    title: String,
    summary: String = "",
    current: PostList.Kind?,
    main: HTML
  ) -> Page {
    var html = HTML()
    html.tag("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n")
    html.tag("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n")
    html.tag("<meta name=\"color-scheme\" content=\"light dark\"/>\n")
    html.element("title", content: title)
    if !summary.isEmpty {
      html.void("meta", attributes: ["name": "description", "content": summary])
    }
    html.tag("\n")
    html.void("link", attributes: ["rel": "stylesheet", "href": Page.styleAddress])
    html.tag("<link rel=\"icon\" type=\"image/svg+xml\" href=\"/blog/icon.svg\"/>\n")
    html.void(
      "link",
      attributes: [
        "rel": "alternate", "type": "application/atom+xml", "title": site.title,
        "href": Site.feed,
      ]
    )
    html.tag("\n</head>\n<body>\n<header>\n<a class=\"name\" href=\"/blog/\">")
    html.tag("<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\">")
    html.tag(Page.flame)
    html.tag("</svg>")
    html.element("span", content: site.title)
    html.tag("</a>\n<nav aria-label=\"Lists\">")
    place("Recent", kind: .recent, isCurrent: current == .recent, in: &html)
    place("Top", kind: .top, isCurrent: current == .top, in: &html)
    html.tag("<a href=\"/blog/feed.atom\">Feed</a></nav>\n</header>\n<main>\n")
    html.append(main)
    html.tag("</main>\n<footer>\n<p>Written and starred in the terminal, with Hearth. ")
    html.tag("These pages are for reading.</p>\n</footer>\n</body>\n</html>\n")
    return Page(
      contentType: "text/html; charset=utf-8",
      body: Array(html.text.utf8),
      headerLines: Page.safety,
      lifetime: 30
    )
  }

  private func place(
    _ name: String,
    kind: PostList.Kind,
    isCurrent: Bool,
    in html: inout HTML
  ) {
    let place = Site.list(kind)
    if isCurrent {
      html.element("a", attributes: ["href": place, "aria-current": "page"], content: name)
    } else {
      html.element("a", attributes: ["href": place], content: name)
    }
  }
}
