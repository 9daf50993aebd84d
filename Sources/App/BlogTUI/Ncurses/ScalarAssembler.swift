/// Makes characters of bytes that arrive one by one.
struct ScalarAssembler {
  private let isUTF8: Bool
  private var value: UInt32 = 0
  private var missing = 0
  private var least: UInt32 = 0

  /// Makes an assembler; without UTF-8 only ASCII is understood.
  init(isUTF8: Bool) {
    self.isUTF8 = isUTF8
  }

  /// Takes a byte and returns the character that it completes, if any; malformed bytes vanish.
  mutating func append(_ byte: UInt8) -> Unicode.Scalar? {
    if byte < 0x80 {
      missing = 0
      return Unicode.Scalar(byte)
    }
    guard isUTF8 else { return nil }
    switch byte {
    case 0xC2...0xDF: begin(byte & 0x1F, missing: 1, least: 0x80)
    case 0xE0...0xEF: begin(byte & 0x0F, missing: 2, least: 0x800)
    case 0xF0...0xF4: begin(byte & 0x07, missing: 3, least: 0x10000)
    case 0x80...0xBF where missing > 0:
      value = value << 6 | UInt32(byte & 0x3F)
      missing -= 1
      if missing == 0 && value >= least { return Unicode.Scalar(value) }
    default:
      missing = 0
    }
    return nil
  }

  private mutating func begin(_ bits: UInt8, missing: Int, least: UInt32) {
    value = UInt32(bits)
    self.missing = missing
    self.least = least
  }
}
