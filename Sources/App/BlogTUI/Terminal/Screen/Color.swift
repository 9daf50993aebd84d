/// A colour as terminals know them: their own default, a name, a palette index, or red, green and blue.
package enum Color: Hashable, Sendable, Codable {
  /// Whatever the terminal uses by itself.
  case standard
  /// Black.
  case black
  /// Red.
  case red
  /// Green.
  case green
  /// Yellow.
  case yellow
  /// Blue.
  case blue
  /// Magenta.
  case magenta
  /// Cyan.
  case cyan
  /// White, in most terminals light grey.
  case white
  /// An entry of the palette of 256; terminals with fewer colours show the nearest basic one.
  case indexed(UInt8)
  /// Red, green and blue; terminals without such colours show the nearest they have.
  case rgb(UInt8, UInt8, UInt8)
}
