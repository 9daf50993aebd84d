import BlogModel

/// The tabs of the header: as much of each as there is room for.
struct TabBar {
  /// One tab.
  struct Tab {
    let kind: FeedKind
    let rect: Rect
    let text: SafeText
  }

  /// The name of the program, if there is room for it.
  let brand: SafeText
  /// The tabs, from left to right.
  let tabs: [Tab]

  init(_ session: Session) {
    let header = Frame(session.size).header
    let kinds = session.allFeeds
    var brand = SafeText.empty
    var texts: [SafeText] = []
    for detail in Detail.allCases {
      brand = detail.brand
      // A loop and not a closure, which would copy the whole session.
      texts = []
      for kind in kinds { texts.append(Self.text(of: kind, detail, session)) }
      if texts.reduce(brand.width, { $0 + $1.width }) <= header.width { break }
    }
    self.brand = brand
    var column = header.column + brand.width
    tabs = zip(kinds, texts).map { kind, text in
      defer { column += text.width }
      let rect = Rect(row: header.row, column: column, width: text.width, height: header.height)
      return Tab(kind: kind, rect: rect.intersection(header), text: text)
    }
  }

  /// How much there is room for, from the most to the least.
  private enum Detail: CaseIterable {
    case everything
    case names
    case nameAndCountOfActive
    case nameOfActive
    case narrowest

    var brand: SafeText {
      switch self {
      case .everything: " hearth   "
      case .names: " hearth "
      case .nameAndCountOfActive, .nameOfActive, .narrowest: .empty
      }
    }
  }

  private static func text(of kind: FeedKind, _ detail: Detail, _ session: Session) -> SafeText {
    let isActive = kind == session.tab
    switch detail {
    case .everything: return long(kind, session, counts: true)
    case .names: return long(kind, session, counts: false)
    case .nameAndCountOfActive: return isActive ? long(kind, session, counts: true) : short(kind)
    case .nameOfActive: return isActive ? long(kind, session, counts: false) : tiny(kind)
    case .narrowest: return isActive ? long(kind, session, counts: false) : number(kind)
    }
  }

  /// The name of a list.
  private static func name(_ kind: FeedKind, _ session: Session) -> SafeText {
    switch kind {
    case .recent: "Recent"
    case .top: "Top"
    case .mine: "My posts"
    case .myTop: "My top posts"
    case .author:
      SafeText(untrusted: session.reading.author.map(session.names.shown) ?? "", limit: 20)
    }
  }

  /// The key that shows the list; that of an author is reached by his posts only.
  private static func number(_ kind: FeedKind) -> SafeText {
    FeedKind.tabs.firstIndex(of: kind).map { SafeText($0 + 1) } ?? "@"
  }

  private static func long(_ kind: FeedKind, _ session: Session, counts: Bool) -> SafeText {
    var text = " " + number(kind) + " " + name(kind, session) + " "
    let isKnown = counts && session[kind].phase == .loaded
    if isKnown {
      let extent = session[kind].extent
      let more: SafeText = extent.hasOlder || extent.hasNewer ? "+ " : " "
      text.append(SafeText(session[kind].posts.count) + more)
    }
    return text
  }

  private static func short(_ kind: FeedKind) -> SafeText { " " + number(kind) + " " }

  private static func tiny(_ kind: FeedKind) -> SafeText { number(kind) + " " }
}
