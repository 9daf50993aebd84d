/// Bytes that are written one after the other, by one writer alone.
///
/// An array would ask at each byte whether somebody shares it.
///
// Safety: `count` never exceeds `capacity`, and what is lent is used before the next change.
struct PackedBuffer: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  /// How many bytes there are.
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = max(capacity, 1)
    base = .allocate(capacity: self.capacity)
  }

  deinit {
    base.deallocate()
  }

  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if count + more > capacity { grow(by: more) }
  }

  @inline(never)
  private mutating func grow(by more: Int) {
    capacity = max(2 * capacity, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    larger.update(from: base, count: count)
    base.deallocate()
    base = larger
  }

  /// Removes all bytes from a place on.
  mutating func truncate(to count: Int) {
    assert(count <= self.count, "a place that has been written")
    self.count = min(count, self.count)
  }

  /// A byte that has been written.
  subscript(position: Int) -> UInt8 {
    get {
      precondition(position < count)
      return base[position]
    }
    set {
      precondition(position < count)
      base[position] = newValue
    }
  }

  /// The bytes from a place on.
  func bytes(from start: Int) -> UnsafeBufferPointer<UInt8> {
    precondition(start <= count)
    return UnsafeBufferPointer(start: base + start, count: count - start)
  }
}

extension PackedBuffer: PackedBytes {
  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    base[count] = byte
    count += 1
  }

  @inline(__always)
  mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    (base + count).update(from: source, count: bytes.count)
    count += bytes.count
  }
}
