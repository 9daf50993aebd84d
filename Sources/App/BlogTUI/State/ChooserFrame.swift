/// Where the parts of a choice are.
struct ChooserFrame: Hashable {
  /// The mark before the field.
  let prompt: Rect
  /// What is typed.
  let field: Rect
  /// The things to choose.
  let list: Rect

  init(_ frame: Frame) {
    let rows = Layout.rows([.fixed(1), .flexible(1)], in: frame.content)
    let columns = Layout.columns([.fixed(2), .flexible(1)], in: rows[0])
    prompt = columns[0]
    field = columns[1]
    list = rows[1]
  }
}
