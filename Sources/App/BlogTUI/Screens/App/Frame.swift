/// The rectangles of the parts of every screen.
package struct Frame: Hashable, Sendable {
  /// The smallest size at which the screens can be used.
  package static let smallest = Size(width: 20, height: 6)

  package let header: Rect
  /// The thin line below the tabs, with notices; empty on screens with few rows.
  package let upperRule: Rect
  package let content: Rect
  /// The thin line below the content; empty on screens with few rows.
  package let lowerRule: Rect
  /// Hints, messages and questions.
  package let footer: Rect
  /// The user, the database, and the state of the connection.
  package let status: Rect

  package init(_ size: Size) {
    let rule: Length = size.height >= 10 ? .fixed(1) : .fixed(0)
    let rows = Layout.rows(
      [.fixed(1), rule, .flexible, rule, .fixed(1), .fixed(1)],
      in: Rect(size: size)
    )
    header = rows[0]
    upperRule = rows[1]
    content = rows[2]
    lowerRule = rows[3]
    footer = rows[4]
    status = rows[5]
  }

  /// Where a search is typed, after its slash.
  var searchField: Rect { footer.cut(left: 1, right: searchCount.width) }

  /// Where the number of matches is shown; empty on narrow screens.
  var searchCount: Rect {
    footer.cut(left: footer.width - (footer.width >= 36 ? 13 : 0))
  }

  var page: Rect { content.inset(rows: 0, columns: 1) }

  package static func isLargeEnough(_ size: Size) -> Bool {
    size.width >= smallest.width && size.height >= smallest.height
  }
}
