internal import RealtimeCore

/// Immutable elements at a fixed address, which can be borrowed without counting references.
///
// Safety: the elements are initialized once, before they are shared, and freed with the last
// reference; borrowers hold one.
final class Lent<Element>: @unchecked Sendable {
  /// The first element; it is a programmer error to use it if there is none.
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
  private(set) var count = 0

  init(capacity: Int) {
    assert(_isPOD(Element.self), "elements of a stack hold no references")
    self.capacity = max(capacity, 1)
    base = .allocate(capacity: self.capacity)
  }

  deinit {
    base.deallocate()
  }

  subscript(index: Int) -> Element {
    precondition(index >= 0 && index < count)
    return base[index]
  }

  mutating func push(_ element: Element) {
    if count == capacity { grow() }
    (base + count).initialize(to: element)
    count += 1
  }

  /// Drops all elements from an index on.
  mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count)
    self.count = count
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: 2 * capacity)
    larger.moveInitialize(from: base, count: count)
    base.deallocate()
    base = larger
    capacity *= 2
  }
}

/// Arena for text that is created while rules are evaluated, released all at once.
///
// Safety: confined to one request. Memory is freed only with the arena, and reused only after
// `release(to:)`, before which its callers drop the texts.
struct RuleScratch: ~Copyable {
  private static let usualBytes = 256

  private var pieces: [UnsafeMutableBufferPointer<UInt8>] = []
  /// The piece that is being filled, and its fill level.
  private(set) var mark = Mark()

  /// A fill level of the arena.
  struct Mark {
    fileprivate var piece = 0
    fileprivate var filled = 0
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

  /// Copies text.
  mutating func keep(_ text: String) -> LeafText {
    var text = text
    return text.withUTF8 { keep($0) }
  }

  private mutating func allocate(_ count: Int) -> UnsafeMutableBufferPointer<UInt8> {
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
