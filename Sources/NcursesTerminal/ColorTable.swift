import TerminalUI

/// Turns colours into the numbers of a terminal with so many of them.
enum ColorTable {
  private static let basic: [(Int, Int, Int)] = [
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205),
    (229, 229, 229),
  ]

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
    }
  }

  private static func number(ofIndex index: Int, count: Int) -> Int32 {
    guard count >= 8 else { return -1 }
    if index < count { return Int32(index) }
    if index < 16 { return Int32(index - 8) }
    let (red, green, blue) = components(of: index)
    let distances = basic.map { color in
      let (r, g, b) = (color.0 - red, color.1 - green, color.2 - blue)
      return r * r + g * g + b * b
    }
    let nearest = distances.indices.min { distances[$0] < distances[$1] }
    return Int32(nearest ?? 7)
  }

  /// The components that the palette of 256 colours has by convention.
  private static func components(of index: Int) -> (Int, Int, Int) {
    if index >= 232 {
      let level = 8 + 10 * (index - 232)
      return (level, level, level)
    }
    let levels = [0, 95, 135, 175, 215, 255]
    let cube = index - 16
    return (levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6])
  }
}
