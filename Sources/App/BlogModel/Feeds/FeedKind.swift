/// A list of posts.
package enum FeedKind: Hashable, Sendable, Codable {
  /// All posts, newest first.
  case recent
  /// All posts, those with the most stars first.
  case top
  /// My posts, newest first.
  case mine
  /// My posts, those with the most stars first.
  case myTop
  /// The posts of one person, newest first.
  case author(uid: String)

  /// The lists that everybody has, in the order of their tabs.
  package static let tabs: [FeedKind] = [.recent, .top, .mine, .myTop]

  /// The list of that name, as commands call it; nil if there is none.
  package init?(name: String) {
    guard let kind = Self.tabs.first(where: { $0.name == name }) else { return nil }
    self = kind
  }

  /// What commands call the list.
  package var name: String {
    switch self {
    case .recent: "recent"
    case .top: "top"
    case .mine: "mine"
    case .myTop: "mytop"
    case .author(let uid): "author \(uid)"
    }
  }

  /// Whether stars decide the order; otherwise the age does.
  package var isByStars: Bool {
    switch self {
    case .top, .myTop: true
    case .recent, .mine, .author: false
    }
  }
}
