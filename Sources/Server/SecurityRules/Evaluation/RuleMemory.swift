internal import RealtimeCore

/// Arena for text that is created while rules are evaluated, released all at once.
///
// Safety: confined to one request. Memory is freed only with the arena, and reused only after
// `release(to:)`, before which its callers drop the texts.
final class RuleScratch {
  private static let usualBytes = 512

  private var pieces: [UnsafeMutableBufferPointer<UInt8>] = []
  /// The piece that is being filled, and its fill level.
  private(set) var mark = Mark()

  /// A fill level of the arena.
  struct Mark {
    fileprivate var piece = 0
    fileprivate var filled = 0
  }

  /// Copies text.
  func keep(_ text: UnsafeBufferPointer<UInt8>) -> LeafText {
    let copy = allocate(text.count)
    _ = copy.initialize(from: text)
    return LeafText(UnsafeBufferPointer(copy))
  }

  /// Copies text.
  func keep(_ text: String) -> LeafText {
    var text = text
    return text.withUTF8 { keep($0) }
  }

  private func allocate(_ count: Int) -> UnsafeMutableBufferPointer<UInt8> {
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
  func release(to mark: Mark) {
    self.mark = mark
  }

  deinit {
    for piece in pieces { piece.deallocate() }
  }
}

/// Immutable elements at a fixed address, which can be borrowed without counting references.
///
// Safety: the elements are initialized once, before they are shared, and freed with the last
// reference; borrowers hold one.
final class Lent<Element>: @unchecked Sendable {
  let elements: UnsafeBufferPointer<Element>

  init(_ elements: some Collection<Element>) {
    let copy = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
    _ = copy.initialize(from: elements)
    self.elements = UnsafeBufferPointer(copy)
  }

  deinit {
    let memory = UnsafeMutableBufferPointer(mutating: elements)
    memory.deinitialize()
    memory.deallocate()
  }
}
