import BlogTUI

/// A screen divided into frames of about the same size, row by row.
struct DemoTiles {
  /// The frames.
  let frames: [Rect]

  /// Divides a screen.
  init(_ size: Size, count: Int) {
    let columns = count <= 1 ? 1 : count <= 4 ? 2 : 3
    let rows = (count + columns - 1) / columns
    frames = (0..<count).map { index in
      let row = index / columns
      let inRow = row == rows - 1 ? count - row * columns : columns
      let column = index % columns
      let top = size.height * row / rows
      let bottom = size.height * (row + 1) / rows
      let left = size.width * column / inRow
      let right = size.width * (column + 1) / inRow
      return Rect(row: top, column: left, width: right - left, height: bottom - top)
    }
  }

  /// What is inside of the frames.
  var insides: [Rect] { frames.map { $0.inset(rows: 1, columns: 1) } }
}
