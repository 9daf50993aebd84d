internal import RealtimeCore

/// Where text is kept that comes to be while rules are computed: a few pieces of memory, filled one
/// after the other, and given up all at once.
///
// Safety: confined to one request. A piece is freed only with the scratch, and used again only after
// the texts in it have been given up; who takes a text says when that is.
final class RuleScratch {
  private static let usualBytes = 512

  private var pieces: [UnsafeMutableBufferPointer<UInt8>] = []
  /// The piece that is being filled, and up to where it is.
  private(set) var mark = Mark()

  /// A moment, to go back to.
  struct Mark {
    fileprivate var piece = 0
    fileprivate var filled = 0
  }

  /// Copies text.
  func keep(_ text: UnsafeBufferPointer<UInt8>) -> LeafText {
    let place = take(text.count)
    _ = place.initialize(from: text)
    return LeafText(UnsafeBufferPointer(place))
  }

  /// Copies text.
  func keep(_ text: String) -> LeafText {
    var text = text
    return text.withUTF8 { keep($0) }
  }

  private func take(_ count: Int) -> UnsafeMutableBufferPointer<UInt8> {
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

  /// Gives up all text that has been kept since a moment.
  func release(to mark: Mark) {
    self.mark = mark
  }

  deinit {
    for piece in pieces { piece.deallocate() }
  }
}
