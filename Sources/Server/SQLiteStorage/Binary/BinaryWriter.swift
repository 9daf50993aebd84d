import RealtimeCore

/// Writes values as bytes: small numbers in few bytes, text with its length in front.
struct BinaryWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(byte: UInt8) {
    bytes.append(byte)
  }

  /// Writes seven bits a byte, the lowest first; the top bit says that more follow.
  mutating func write(count: Int) {
    write(unsigned: UInt64(count))
  }

  /// Writes a whole number so that those near zero are short, whatever their sign.
  mutating func write(integer: Int64) {
    write(unsigned: UInt64(bitPattern: (integer << 1) ^ (integer >> 63)))
  }

  mutating func write(bits: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
    }
  }

  mutating func write(text: String) {
    var text = text
    text.withUTF8 { write(text: $0) }
  }

  /// Writes text that is UTF-8 already.
  mutating func write(text: UnsafeBufferPointer<UInt8>) {
    write(count: text.count)
    bytes.append(contentsOf: text)
  }

  /// Appends a checksum of everything written so far.
  mutating func seal() {
    write(bits: Checksum.of(bytes))
  }

  private mutating func write(unsigned: UInt64) {
    var rest = unsigned
    while rest > 127 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
