import BlogModel
import TerminalUI

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

  init(_ model: Model) {
    let header = Frame(model.size).header
    let name: SafeText = " hearth "
    let kinds = model.allFeeds
    let styles: [(brand: SafeText, text: (FeedKind) -> SafeText)] = [
      (name + "  ", { Self.long($0, model, counts: true) }),
      (name, { Self.long($0, model, counts: false) }),
      (.empty, { $0 == model.tab ? Self.long($0, model, counts: true) : Self.short($0) }),
      (.empty, { $0 == model.tab ? Self.long($0, model, counts: false) : Self.tiny($0) }),
      (.empty, { $0 == model.tab ? Self.long($0, model, counts: false) : Self.number($0) }),
    ]
    var texts: [SafeText] = []
    var brand = SafeText.empty
    for style in styles {
      brand = style.brand
      texts = kinds.map(style.text)
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

  /// The name of a list.
  private static func name(_ kind: FeedKind, _ model: Model) -> SafeText {
    switch kind {
    case .recent: "Recent"
    case .top: "Top"
    case .mine: "My posts"
    case .myTop: "My top posts"
    case .author: SafeText(untrusted: model.reading.author?.name ?? "", limit: 20)
    }
  }

  /// The key that shows the list; that of an author is reached by his posts only.
  private static func number(_ kind: FeedKind) -> SafeText {
    FeedKind.tabs.firstIndex(of: kind).map { SafeText($0 + 1) } ?? "@"
  }

  private static func long(_ kind: FeedKind, _ model: Model, counts: Bool) -> SafeText {
    var text = " " + number(kind) + " " + name(kind, model) + " "
    let isKnown = counts && model[kind].phase == .loaded
    if isKnown {
      let extent = model[kind].extent
      let more: SafeText = extent.hasOlder || extent.hasNewer ? "+ " : " "
      text.append(SafeText(model[kind].posts.count) + more)
    }
    return text
  }

  private static func short(_ kind: FeedKind) -> SafeText { " " + number(kind) + " " }

  private static func tiny(_ kind: FeedKind) -> SafeText { number(kind) + " " }
}
