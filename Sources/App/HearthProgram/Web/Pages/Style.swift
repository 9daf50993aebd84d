internal import RealtimeServer

extension Page {
  /// Headers that restrict a page to being read: no script, and nothing from other sites.
  static let safety: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
  ]

  static func redirect(to address: String) -> Page {
    Page(
      status: 302,
      contentType: "text/plain; charset=utf-8",
      body: Array("\(address)\n".utf8),
      headerLines: safety + [("Location", address)],
      lifetime: 0
    )
  }

  /// The address of the style sheet; it changes with the style sheet's content.
  static let styleAddress = "/blog/style.css?v=\(version(of: styleText))"

  static var style: Page {
    Page(
      contentType: "text/css; charset=utf-8",
      body: Array(styleText.utf8),
      headerLines: safety,
      lifetime: 604_800
    )
  }

  static var icon: Page {
    var svg = HTML()
    svg.tag("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" fill=\"#c4501b\">")
    svg.tag(flame)
    svg.tag("</svg>\n")
    return Page(
      contentType: "image/svg+xml",
      body: Array(svg.text.utf8),
      headerLines: safety,
      lifetime: 604_800
    )
  }

  /// The shape of a flame, in a 24 by 24 box.
  static let flame: StaticString = """
    <path d="M12.6 1.5c.9 3.6-.6 5.4-2.4 7.3C8.3 10.8 6 13 6 16.2 6 19.7 8.7 22.5 12 22.5s6-2.7 \
    6-6.3c0-2.3-1-4.2-2.2-5.7-.2 1.5-.8 2.5-1.8 3.1.5-4-.2-8.5-1.4-12.1z"/>
    """

  private static func version(of text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    return String(hash, radix: 36)
  }

  private static let styleText = """
    :root {
      color-scheme: light dark;
      --paper: #fbf8f2; --ink: #2a2420; --soft: #6f655c; --line: #e5ddd0; --ember: #ad4313;
      --wash: #f3ecdf; --leaf: #3f6b1f;
      --text: "Iowan Old Style", "Palatino Linotype", Palatino, "EB Garamond", "Source Serif 4",
        Charter, "Noto Serif", Georgia, serif;
      --plain: system-ui, -apple-system, "Segoe UI", Inter, Roboto, "Noto Sans", sans-serif;
      --code: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, monospace;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #171412; --ink: #e9e1d6; --soft: #a3978a; --line: #352e29; --ember: #f09a5b;
        --wash: #221d1a; --leaf: #a8cf7f;
      }
    }
    * { box-sizing: border-box; }
    html { font-size: 112.5%; -webkit-text-size-adjust: 100%; }
    body {
      margin: 0 auto; padding: 0 1.25rem; max-width: 39rem; background: var(--paper);
      color: var(--ink); font-family: var(--text); line-height: 1.6; overflow-wrap: break-word;
      font-kerning: normal; font-variant-numeric: oldstyle-nums proportional-nums;
      text-rendering: optimizeLegibility;
    }
    a { color: inherit; text-decoration-color: var(--line); text-underline-offset: .18em; }
    a:hover { color: var(--ember); text-decoration-color: currentColor; }
    a:focus-visible { outline: 2px solid var(--ember); outline-offset: 3px; border-radius: 2px; }
    header {
      display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center;
      justify-content: space-between; padding: 2.25rem 0 1rem;
      border-bottom: 1px solid var(--line);
    }
    .name {
      display: inline-flex; gap: .4rem; align-items: center; font-size: 1.3rem; font-weight: 600;
      letter-spacing: .01em; text-decoration: none;
    }
    .name svg { width: 1.25rem; height: 1.25rem; fill: var(--ember); flex: none; }
    header nav, .meta, .turn, footer, #comments > h2 {
      font-family: var(--plain); font-size: .8rem; font-variant-numeric: lining-nums;
    }
    header nav { display: flex; gap: 1.25rem; }
    header nav a { color: var(--soft); text-decoration: none; }
    header nav a:hover { color: var(--ember); }
    header nav a[aria-current] {
      color: var(--ink); text-decoration: underline; text-decoration-color: var(--ember);
      text-decoration-thickness: 2px; text-underline-offset: .45em;
    }
    main { padding: 2.25rem 0 3rem; }
    h1, h2 { font-weight: 600; line-height: 1.2; text-wrap: balance; }
    h1 { font-size: 2.05rem; letter-spacing: -.01em; margin: 0 0 .6rem; }
    h1.who { font-size: 1.55rem; margin-bottom: 2rem; }
    h1.who small {
      display: block; font: 400 .8rem var(--plain); color: var(--soft); letter-spacing: .01em;
    }
    .entry { margin: 0 0 2.4rem; }
    .entry h2 { font-size: 1.35rem; margin: 0 0 .3rem; }
    .entry h2 a { text-decoration: none; }
    .entry h2 a:visited { color: var(--soft); }
    .entry h2 a:hover { color: var(--ember); text-decoration: underline; }
    .excerpt { margin: 0 0 .4rem; }
    .meta { margin: 0; color: var(--soft); line-height: 1.5; }
    .meta > span + span::before { content: "·"; margin: 0 .5em; }
    .meta a { color: inherit; }
    .meta a:hover { color: var(--ember); }
    .meta .author { color: var(--ink); font-weight: 500; text-decoration: none; }
    .stars > span[aria-hidden] { color: var(--ember); }
    .unseen {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
      white-space: nowrap;
    }
    .prose { margin-top: 1.6rem; }
    .prose > :first-child { margin-top: 0; }
    .prose > :last-child { margin-bottom: 0; }
    .prose p, .prose ul, .prose ol, .prose pre, .prose blockquote { margin: 0 0 1.05em; }
    .prose a { text-decoration-color: var(--ember); overflow-wrap: anywhere; }
    blockquote { padding-left: 1.1rem; border-left: 3px solid var(--line); color: var(--soft); }
    blockquote p:last-child { margin: 0; }
    table { display: block; margin: 0 0 1.05em; overflow-x: auto; border-collapse: collapse; }
    th, td { padding: .2em .8em .2em 0; border-bottom: 1px solid var(--line); text-align: start; }
    .center { text-align: center; }
    .end { text-align: end; }
    code, pre { font-family: var(--code); font-size: .82em; }
    code { background: var(--wash); padding: .1em .3em; border-radius: 3px; }
    pre {
      background: var(--wash); padding: .9rem 1.1rem; border-radius: 6px; overflow-x: auto;
      line-height: 1.45;
    }
    pre code { background: none; padding: 0; font-size: 1em; }
    .keyword, .number { color: var(--ember); }
    .string { color: var(--leaf); }
    .comment { color: var(--soft); font-style: italic; }
    #comments { margin-top: 3.2rem; padding-top: 1.1rem; border-top: 1px solid var(--line); }
    #comments > h2 { font-weight: 500; color: var(--soft); margin: 0 0 1.4rem; }
    .comments { list-style: none; margin: 0; padding: 0; }
    .comments > li { margin: 0 0 1.5rem; }
    .comments .prose { margin-top: .15rem; font-size: .95rem; }
    .turn {
      display: flex; justify-content: space-between; margin-top: 2.5rem; font-size: .85rem;
    }
    .turn a { text-decoration: none; color: var(--ember); }
    .turn a:hover { text-decoration: underline; }
    .turn .next { margin-left: auto; }
    .empty, .lead { color: var(--soft); }
    footer { padding: 1rem 0 2.5rem; border-top: 1px solid var(--line); color: var(--soft); }
    footer p { margin: 0; }
    @media print {
      body { max-width: none; }
      header nav, .turn, footer { display: none; }
    }

    """
}
