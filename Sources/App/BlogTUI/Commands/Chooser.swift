/// A choice between many things, of which a few letters are typed.
package struct Chooser: Equatable, Sendable {
  /// What is chosen between.
  package enum Kind: Hashable, Sendable {
    /// Commands.
    case palette
    /// Settings.
    case settings
    /// Links of a post.
    case links
  }

  /// What choosing an item does.
  enum Choice: Hashable, Sendable {
    case action(Action)
    case command(String)
    case setting(Setting)
    case link(String)
  }

  /// One thing to choose.
  package struct Item: Hashable, Sendable {
    /// What it is called.
    package let title: String
    /// What is shown at its right.
    package let detail: String
    let choice: Choice
  }

  /// What is chosen between.
  package let kind: Kind
  /// Everything there is.
  package internal(set) var items: [Item]
  /// What is typed.
  package internal(set) var field = TextField(limit: 100)
  /// The numbers of the items that fit, best first.
  package internal(set) var list = ListView<Int>()

  init(_ kind: Kind, items: [Item]) {
    self.kind = kind
    self.items = items
    filter()
  }

  /// The selected item.
  var selection: Item? {
    list.selection.flatMap { items.indices.contains($0) ? items[$0] : nil }
  }

  /// The link that is selected.
  var selectedLink: String? {
    guard case .link(let link)? = selection?.choice else { return nil }
    return link
  }

  /// The heading.
  package var title: SafeText {
    switch kind {
    case .palette: "Commands"
    case .settings: "Settings"
    case .links: "Links"
    }
  }

  /// How the typed letters fit a title.
  package func match(_ item: Item) -> FuzzyMatch? {
    FuzzyMatch(field.text, in: item.title)
  }

  /// Shows what fits what was typed, best first.
  mutating func filter() {
    let fitting = items.indices.compactMap { index -> (Int, Int)? in
      if let match = match(items[index]) { return (index, match.score) }
      return FuzzyMatch(field.text, in: items[index].detail).map { (index, $0.score - 100) }
    }
    let order = field.isEmpty ? fitting : fitting.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    list.update(ids: order.map(\.0))
    list.move(to: 0)
  }
}
