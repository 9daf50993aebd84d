import Testing

@testable import HearthProgram

@Suite("Light markdown as HTML")
struct MarkedTextTests {
  @Test(
    "renders the intended markup",
    arguments: [
      ("one\ntwo\n\nthree", "<p>one<br/>two</p><p>three</p>"),
      ("*a* **b** _c_ `d*e*`", "<p><em>a</em> <strong>b</strong> <em>c</em> <code>d*e*</code></p>"),
      ("snake_case_name 2*3*4 * x *", "<p>snake_case_name 2*3*4 * x *</p>"),
      ("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"),
      ("> a\n> b\nc", "<blockquote><p>a<br/>b</p></blockquote><p>c</p>"),
      ("- a\n- b\n1. c", "<ul><li>a</li><li>b</li></ul><ol><li>c</li></ol>"),
      ("```\n<b>\n\n*x*\n```\nend", "<pre><code>&lt;b&gt;*x*</code></pre><p>end</p>"),
      (
        "|a|b|\n|-|-:|\n|*c*|d\\|e|\nend",
        #"<table><tr><th>a</th><th class="end">b</th></tr><tr><td><em>c</em></td>"#
          + #"<td class="end">d|e</td></tr></table><p>end</p>"#
      ),
      (
        "```sh\nif 1 # <b>\n```",
        #"<pre><code><span class="keyword">if</span> <span class="number">1</span> "#
          + #"<span class="comment"># &lt;b&gt;</span></code></pre>"#
      ),
      ("```\nnever closed", "<pre><code>never closed</code></pre>"),
      ("*never closed", "<p>*never closed</p>"),
      ("", ""),
    ]
  )
  func shown(source: String, html: String) {
    #expect(Self.plain(MarkedText.html(source)) == html)
  }

  @Test("drops markup and link addresses in one-line form and is escaped like any text")
  func line() {
    let source = "# Tea\n**Good** [tea](https://a.example/b) is `<b>`\u{202E}\n- one"
    #expect(MarkedText.line(source, limit: 80) == "Tea Good tea is <b>\u{202E} • one")
    #expect(MarkedText.line(source, limit: 8) == "Tea Good…")
    var html = HTML()
    html.element("p", content: MarkedText.line(source, limit: 80))
    #expect(html.text.contains("Tea Good tea is &lt;b&gt; • one"), "\(html.text)")
  }

  @Test(
    "links http and https addresses with safe attributes",
    arguments: [
      ("see http://a.example/x?y=1&z.", "http://a.example/x?y=1&amp;z", "."),
      ("(https://a.example/b)", "https://a.example/b", ")"),
      ("[here](https://a.example/(c)", "https://a.example/(c", ""),
      ("https://a.example/\"onclick=x", "https://a.example/", "&quot;onclick=x"),
    ]
  )
  func links(source: String, address: String, rest: String) {
    let html = Self.plain(MarkedText.html(source))
    #expect(
      html.contains("href=\"\(address)\" rel=\"nofollow ugc noopener noreferrer\""),
      "\(html)"
    )
    #expect(html.hasSuffix("</a>\(rest)</p>"), "\(html)")
  }

  @Test(
    "never links any other scheme",
    arguments: [
      "javascript:alert(1)", "[x](javascript:alert(1))", "[x](data:text/html,hi)",
      "[x](//a.example)",
      "http://", "xhttp://a.example", "[x](http://)", "[](http://a.example) no",
      "[x](HTTP://a.example\u{202E})", "[x](/blog/)", "http:/a.example",
    ]
  )
  func noLinks(source: String) {
    let html = MarkedText.html(source).text
    #expect(!html.contains("href=\"") || html.contains("href=\"http://a.example\""), "\(html)")
    #expect(!html.contains("href=\"javascript") && !html.contains("href=\"data"), "\(html)")
  }

  @Test(
    "grows linearly with its text, even for hostile input",
    arguments: [
      "*a ", "**a", "_a _", "`", "[", "[x](", "[x](http://", "> ", "http://", "- ", "\n", "***",
      "|", "|-|\n", "```sql\n\"", "```c\n/*",
    ]
  )
  func hostileLength(pattern: String) {
    func length(_ count: Int) -> Int {
      MarkedText.html(String(repeating: pattern, count: count)).text.utf8.count
    }
    // Twice the text gives about twice the page; with quadratic growth it would be four times.
    #expect(length(800) <= 3 * length(400))
  }

  /// The HTML without newlines, and without the attributes for automatic text direction.
  private static func plain(_ html: HTML) -> String {
    html.text.replacing("\n", with: "").replacing(" dir=\"auto\"", with: "")
  }
}
