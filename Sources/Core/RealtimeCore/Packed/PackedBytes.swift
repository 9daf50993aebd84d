/// Where packed values are written to.
protocol PackedBytes: ~Copyable {
  /// Appends a byte.
  mutating func append(_ byte: UInt8)

  /// Appends bytes.
  mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>)
}

extension [UInt8]: PackedBytes {}

extension PackedBytes where Self: ~Copyable {
  @inline(__always)
  mutating func append(tag: PackedTag) {
    append(tag.rawValue)
  }

  @inline(__always)
  mutating func append(packed value: Bool) {
    append(tag: value ? .yes : .no)
  }

  @inline(__always)
  mutating func append(packed value: Int64) {
    if let small = Int8(exactly: value) {
      append(tag: .small)
      append(UInt8(bitPattern: small))
    } else {
      append(tag: .integer)
      append(word: UInt64(bitPattern: value))
    }
  }

  @inline(__always)
  mutating func append(packed value: Double) {
    append(tag: .double)
    append(word: value.bitPattern)
  }

  /// Appends a length of at most 16 bits.
  @inline(__always)
  mutating func append(packedLength length: Int) {
    append(UInt8(truncatingIfNeeded: length))
    append(UInt8(truncatingIfNeeded: length >> 8))
  }

  /// Appends text of at most 16 bits of bytes as a value.
  @inline(__always)
  mutating func append(packed text: UnsafeBufferPointer<UInt8>) {
    append(tag: .string)
    append(packedLength: text.count)
    append(contentsOf: text)
  }

  @inline(__always)
  private mutating func append(word: UInt64) {
    withUnsafeBytes(of: word.littleEndian) { bytes in
      bytes.withMemoryRebound(to: UInt8.self) { append(contentsOf: $0) }
    }
  }
}
