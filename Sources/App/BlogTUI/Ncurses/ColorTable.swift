/// Turns colours into the numbers of a terminal with so many of them.
///
/// A terminal with more than 256 colours takes red, green and blue as one number, of which only the
/// first eight stand for the basic colours.
enum ColorTable {
  private typealias Components = (red: Int, green: Int, blue: Int)

  private static let basic: [Components] = [
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205),
    (229, 229, 229),
  ]
  private static let bright: [Components] = [
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255),
    (0, 255, 255), (255, 255, 255),
  ]
  private static let levels = [0, 95, 135, 175, 215, 255]
  private static let paletteCount = 256

  /// The number of a colour; -1 is the terminal's own.
  static func number(of color: Color, count: Int) -> Int32 {
    switch color {
    case .standard: -1
    case .black: count >= 8 ? 0 : -1
    case .red: count >= 8 ? 1 : -1
    case .green: count >= 8 ? 2 : -1
    case .yellow: count >= 8 ? 3 : -1
    case .blue: count >= 8 ? 4 : -1
    case .magenta: count >= 8 ? 5 : -1
    case .cyan: count >= 8 ? 6 : -1
    case .white: count >= 8 ? 7 : -1
    case .indexed(let index): number(ofIndex: Int(index), count: count)
    case .rgb(let red, let green, let blue):
      number(of: (Int(red), Int(green), Int(blue)), count: count)
    }
  }

  private static func number(ofIndex index: Int, count: Int) -> Int32 {
    guard count >= 8 else { return -1 }
    if index < 8 || (index < count && count <= paletteCount) { return Int32(index) }
    if index < 16, count <= paletteCount { return Int32(index - 8) }
    return number(of: components(of: index), count: count)
  }

  private static func number(of color: Components, count: Int) -> Int32 {
    guard count >= 8 else { return -1 }
    // The first eight numbers are names there: a blue that is nearly black becomes black.
    if count > paletteCount {
      let value = color.red << 16 | color.green << 8 | color.blue
      return value < 8 ? 0 : Int32(value)
    }
    if count == paletteCount { return nearestInPalette(color) }
    return nearest(to: color, in: basic)
  }

  /// Leaves out the first sixteen entries, which users often change.
  private static func nearestInPalette(_ color: Components) -> Int32 {
    let (red, green, blue) = (level(color.red), level(color.green), level(color.blue))
    let cube = 16 + 36 * red + 6 * green + blue
    let brightness = (color.red + color.green + color.blue) / 3
    let gray = 232 + max(0, min(23, (brightness - 3) / 10))
    let isGrayNearer =
      distance(color, components(of: gray)) < distance(color, components(of: cube))
    return Int32(isGrayNearer ? gray : cube)
  }

  private static func level(_ value: Int) -> Int {
    levels.indices.min { abs(levels[$0] - value) < abs(levels[$1] - value) } ?? 0
  }

  private static func nearest(to color: Components, in table: [Components]) -> Int32 {
    let index = table.indices.min { distance(table[$0], color) < distance(table[$1], color) }
    return Int32(index ?? 7)
  }

  private static func distance(_ left: Components, _ right: Components) -> Int {
    let (r, g, b) = (left.red - right.red, left.green - right.green, left.blue - right.blue)
    return r * r + g * g + b * b
  }

  /// The components that the palette of 256 colours has by convention.
  private static func components(of index: Int) -> Components {
    if index >= 232 {
      let level = 8 + 10 * (index - 232)
      return (level, level, level)
    }
    if index < 8 { return basic[index] }
    if index < 16 { return bright[index - 8] }
    let cube = index - 16
    return (levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6])
  }
}
