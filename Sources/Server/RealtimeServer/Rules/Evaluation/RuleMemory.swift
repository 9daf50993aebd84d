internal import RealtimeCore

/// Immutable elements at a fixed address, which can be borrowed without counting references.
///
// Safety: the elements are initialized once, before they are shared, and freed with the last
// reference; borrowers hold one.
final class Lent<Element>: @unchecked Sendable {
  /// The first element; using it when there are no elements is a programmer error.
  let pointer: UnsafePointer<Element>
  private let count: Int

  init(_ elements: some Collection<Element>) {
    count = elements.count
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: max(count, 1))
    _ = UnsafeMutableBufferPointer(start: copy, count: count).initialize(from: elements)
    pointer = UnsafePointer(copy)
  }

  var elements: UnsafeBufferPointer<Element> { UnsafeBufferPointer(start: pointer, count: count) }

  deinit {
    let memory = UnsafeMutablePointer(mutating: pointer)
    memory.deinitialize(count: count)
    memory.deallocate()
  }
}

/// A stack of elements that hold no references, with a single owner.
///
// Safety: `count` never exceeds `capacity`, and elements below it are initialized. They hold no
// references, so that nothing has to be released when they are dropped.
struct RuleStack<Element>: ~Copyable {
  private var base: UnsafeMutablePointer<Element>
  private var capacity: Int
  /// Whether the memory belongs to the stack.
  private var isOwner = false
  private(set) var count = 0

  /// Makes a stack in borrowed memory, whose owner keeps it as long as the stack exists.
  init(in memory: UnsafeMutableRawPointer, capacity: Int) {
    assert(_isPOD(Element.self), "elements of a stack hold no references")
    self.capacity = capacity
    base = memory.bindMemory(to: Element.self, capacity: capacity)
  }

  deinit {
    if isOwner { base.deallocate() }
  }

  subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < count)
      return base[index]
    }
    set {
      precondition(index >= 0 && index < count)
      base[index] = newValue
    }
  }

  /// A pointer to an element, valid until the next change.
  func pointer(to index: Int) -> UnsafePointer<Element> {
    precondition(index >= 0 && index < count)
    return UnsafePointer(base + index)
  }

  mutating func push(_ element: Element) {
    if count == capacity { grow(to: 2 * capacity) }
    (base + count).initialize(to: element)
    count += 1
  }

  /// Adds this many elements, which the caller must initialize immediately.
  mutating func extend(by more: Int) -> UnsafeMutablePointer<Element> {
    if count + more > capacity { grow(to: max(2 * capacity, count + more)) }
    defer { count += more }
    return base + count
  }

  /// Drops all elements from an index on.
  mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count)
    self.count = count
  }

  @inline(never)
  private mutating func grow(to capacity: Int) {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    larger.moveInitialize(from: base, count: count)
    if isOwner { base.deallocate() }
    base = larger
    isOwner = true
    self.capacity = capacity
  }
}

/// An arena for text that is created while rules are evaluated; it is released all at once.
///
// Safety: confined to one request. Memory is freed only with the arena, and reused only after
// `release(to:)`, before which its callers drop the texts.
struct RuleScratch: ~Copyable {
  private static let usualBytes = 256

  /// Borrowed memory, which is used first; its owner keeps it as long as the arena exists.
  private let lent: UnsafeMutableBufferPointer<UInt8>
  private var pieces: [UnsafeMutableBufferPointer<UInt8>] = []
  /// The piece that is being filled, and its fill level.
  private(set) var mark = Mark()

  /// A fill level of the arena.
  struct Mark {
    /// The lent memory is before the first piece.
    fileprivate var piece = -1
    fileprivate var filled = 0
  }

  init(in memory: UnsafeMutableBufferPointer<UInt8>) {
    lent = memory
  }

  deinit {
    for piece in pieces { piece.deallocate() }
  }

  /// Copies text.
  mutating func keep(_ text: UnsafeBufferPointer<UInt8>) -> LeafText {
    let copy = allocate(text.count)
    _ = copy.initialize(from: text)
    return LeafText(UnsafeBufferPointer(copy))
  }

  mutating func keep(_ text: String) -> LeafText {
    var text = text
    return text.withUTF8 { keep($0) }
  }

  mutating func keep(_ key: ChildKey) -> LeafText {
    let start = mark.filled
    if mark.piece < 0, start + ChildKey.writtenBytes <= lent.count, let base = lent.baseAddress,
      let text = key.write(to: UnsafeMutableRawPointer(base + start))
    {
      mark.filled = start + ChildKey.writtenBytes
      return text
    }
    return key.withUTF8 { keep($0) }
  }

  private mutating func allocate(_ count: Int) -> UnsafeMutableBufferPointer<UInt8> {
    if mark.piece < 0 {
      let start = mark.filled
      if start + count <= lent.count {
        mark.filled = start + count
        return UnsafeMutableBufferPointer(rebasing: lent[start..<(start + count)])
      }
      mark = Mark(piece: 0, filled: 0)
    }
    while mark.piece < pieces.count, pieces[mark.piece].count - mark.filled < count {
      mark.piece += 1
      mark.filled = 0
    }
    if mark.piece == pieces.count {
      pieces.append(.allocate(capacity: max(count, Self.usualBytes)))
    }
    let range = mark.filled..<(mark.filled + count)
    mark.filled = range.upperBound
    return UnsafeMutableBufferPointer(rebasing: pieces[mark.piece][range])
  }

  /// Releases all text that was created after a mark.
  mutating func release(to mark: Mark) {
    self.mark = mark
  }
}
