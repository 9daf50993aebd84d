extension Color {
  /// How many bits tell a colour from all others.
  static let bitCount: UInt64 = 26

  /// The kinds of colours that have a value of their own; all others are names.
  private static let indexedKind: UInt64 = 1 << 24
  private static let rgbKind: UInt64 = 2 << 24

  private static let names: [Color] = [
    .standard, .black, .red, .green, .yellow, .blue, .magenta, .cyan, .white,
  ]

  /// The colour as a number.
  var bits: UInt64 {
    switch self {
    case .standard: 0
    case .black: 1
    case .red: 2
    case .green: 3
    case .yellow: 4
    case .blue: 5
    case .magenta: 6
    case .cyan: 7
    case .white: 8
    case .indexed(let index): Self.indexedKind | UInt64(index)
    case .rgb(let red, let green, let blue):
      Self.rgbKind | UInt64(red) << 16 | UInt64(green) << 8 | UInt64(blue)
    }
  }

  /// The colour of a number; higher bits do not matter.
  init(bits: UInt64) {
    let low = UInt8(truncatingIfNeeded: bits)
    switch bits & (3 << 24) {
    case Self.indexedKind: self = .indexed(low)
    case Self.rgbKind:
      let (red, green) = (bits >> 16, bits >> 8)
      self = .rgb(UInt8(truncatingIfNeeded: red), UInt8(truncatingIfNeeded: green), low)
    default: self = Int(low) < Self.names.count ? Self.names[Int(low)] : .standard
    }
  }
}
