/// The columns of a row of a list, depending on its width.
struct PostRowColumns {
  let border: Rect
  let sign: Rect
  let title: Rect
  let author: Rect
  let age: Rect
  let star: Rect
  let count: Rect
  let showsExcerpt: Bool
  /// The line of the title.
  let line: Rect

  init(_ look: PostRowLook) {
    let row = Rect(row: 0, column: 0, width: look.width, height: 1)
    let isWide = row.width >= 60
    let author = row.width >= 100 ? 20 : isWide ? 16 : row.width >= 36 ? 8 : 0
    let gap = isWide ? 2 : 1
    let parts = Layout.columns(
      [
        .fixed(1), .fixed(isWide ? 1 : 0), .flexible(1), .fixed(author > 0 ? gap : 0),
        .fixed(author), .fixed(gap), .fixed(look.ageWidth), .fixed(gap), .fixed(1),
        .fixed(isWide ? 5 : 3), .fixed(isWide ? 1 : 0),
      ],
      in: row
    )
    border = parts[0]
    line = row
    // Where there is no room for a column of its own, a sign has the place of the mark.
    sign = isWide ? parts[1] : parts[0]
    title = parts[2]
    self.author = parts[4]
    age = parts[6]
    star = parts[8]
    count = parts[9]
    self.showsExcerpt = isWide && look.density == .compact
  }
}
