import BlogTUI

/// Where the parts of the tutor stand: lines that say what to do, and below them the two terminals.
struct TutorLayout {
  private static func lines(for width: Int) -> Int { width < 78 ? 5 : 4 }
  /// What the second terminal needs, with its frame.
  private static let least = Size(width: 60, height: 8)

  /// The lines that say what to do.
  let strip: Rect
  /// The frames of the two terminals; where there is room for one only, the second is empty.
  let frames: [Rect]

  init(_ size: Size) {
    let top = min(Self.lines(for: size.width), size.height / 3)
    strip = Rect(row: 0, column: 0, width: size.width, height: top)
    let height = size.height - top
    if size.width >= 2 * Self.least.width, height >= Self.least.height {
      let left = size.width / 2
      frames = [
        Rect(row: top, column: 0, width: left, height: height),
        Rect(row: top, column: left, width: size.width - left, height: height),
      ]
    } else if size.width >= Self.least.width, height >= Self.least.height * 5 / 2 {
      let first = height * 3 / 5
      frames = [
        Rect(row: top, column: 0, width: size.width, height: first),
        Rect(row: top + first, column: 0, width: size.width, height: height - first),
      ]
    } else {
      frames = [Rect(row: top, column: 0, width: size.width, height: height), .zero]
    }
  }
}

extension Tutor {
  /// Says on the lines what to do.
  func paint(_ model: Model, on screen: inout Screen, in strip: Rect, glyphs: GlyphSet) {
    let theme = Theme.dark
    let width = max(1, strip.width - 2)
    let count = TutorLesson.allCases.count - 1
    let number = SafeText(untrusted: lesson == .end ? "" : "\(lesson.rawValue) of \(count): ")
    var lines = [(number + lesson.title, theme[.brand])]
    lines += task(in: model).wrapped(width: width).map { ($0, theme[.text]) }
    // What does not fit ends with what the learner needs least.
    lines = Array(lines.prefix(max(1, strip.height - 1)))
    for (row, line) in lines.enumerated() {
      let rect = Rect(row: strip.row + row, column: 1, width: width, height: 1)
      screen.put(line.0, in: rect, style: line.1, ellipsis: glyphs.ellipsis)
    }
    let last = Rect(row: strip.endRow - 1, column: 1, width: width, height: 1)
    let keys: SafeText = "F8 skip  F7 back  ^C leave"
    screen.put(keys, in: last, style: theme[.dim], ellipsis: glyphs.ellipsis)
    let rest = last.width - keys.width - 2
    guard rest > 0 else { return }
    let place = Rect(row: last.row, column: last.endColumn - rest, width: rest, height: 1)
    screen.put(
      news,
      in: place,
      style: theme[.notice],
      aligned: .trailing,
      ellipsis: glyphs.ellipsis
    )
  }
}
