/// Text that a terminal can only display, never interpret; the drawing layer accepts no other kind.
///
/// A value holds clusters of known width and the line breaks between them. Whatever its source, it
/// contains no control characters, no bidirectional controls, nothing invisible and nothing of
/// unknown width. Sanitising the ``string`` of a safe text again changes nothing.
package struct SafeText: Hashable, Sendable {
  /// How line breaks and bidirectional controls are treated.
  package enum Mode: Hashable, Sendable {
    /// Names and titles: line breaks become `⏎`, and bidirectional controls are spelled out.
    case singleLine
    /// Bodies: line breaks are kept, and bidirectional controls are removed.
    case multiLine
  }

  /// The number of combining marks kept on a base; ncurses and terminals keep four.
  package static let markLimit = 4
  /// The number of clusters of a name that are worth showing.
  package static let nameLimit = 40
  /// The default number of clusters that a single line keeps.
  package static let lineLimit = 1_000
  package static let empty = SafeText(clusters: [], lineBreaks: [])
  /// The default end of truncated text.
  package static let ellipsis: SafeText = "…"

  /// The clusters in order, without the line breaks.
  package private(set) var clusters: [Cluster]
  /// For each line break, the number of clusters before it; ascending.
  package private(set) var lineBreaks: [Int]
  /// The total number of cells.
  package private(set) var width: Int

  /// Makes harmless text from any source: keys, names, bodies, messages of servers.
  ///
  /// Text with more clusters than the limit ends in `…`; by default, only single lines have one.
  package init(untrusted text: String, mode: Mode = .singleLine, limit: Int? = nil) {
    let limit = max(1, limit ?? (mode == .singleLine ? Self.lineLimit : .max))
    let plain = text.utf8.withContiguousStorageIfAvailable { bytes in
      Self.plain(bytes.lazy.map { Unicode.Scalar($0) }, limit: limit)
    }
    if let plain = plain ?? nil {
      self = plain
    } else {
      var sanitizer = Sanitizer(mode: mode, limit: limit)
      self = sanitizer.sanitize(text.unicodeScalars, atMost: text.utf8.count)
    }
  }

  /// Makes a harmless single line from scalars of any source.
  package init(untrusted scalars: [Unicode.Scalar], limit: Int) {
    let limit = max(1, limit)
    if let plain = Self.plain(scalars, limit: limit) {
      self = plain
    } else {
      var sanitizer = Sanitizer(mode: .singleLine, limit: limit)
      self = sanitizer.sanitize(scalars, atMost: scalars.count)
    }
  }

  /// Makes the decimal digits of a number.
  package init(_ number: Int) {
    self.init(untrusted: String(number))
  }

  package init(repeating cluster: Cluster, count: Int) {
    self.init(clusters: Array(repeating: cluster, count: max(0, count)), lineBreaks: [])
  }

  init(clusters: [Cluster], lineBreaks: [Int]) {
    var width = 0
    for cluster in clusters { width += cluster.width }
    self.init(clusters: clusters, lineBreaks: lineBreaks, width: width)
  }

  private init(clusters: [Cluster], lineBreaks: [Int] = [], width: Int) {
    self.clusters = clusters
    self.lineBreaks = lineBreaks
    self.width = width
  }

  /// Makes text of printable ASCII, which is safe as it is; nil if there is any other character, or
  /// too many.
  ///
  /// Most text is of this kind, and need not go through the sanitiser scalar by scalar.
  private static func plain(
    _ scalars: some RandomAccessCollection<Unicode.Scalar>,
    limit: Int
  ) -> SafeText? {
    guard scalars.count <= limit, scalars.allSatisfy({ (" "..."~").contains($0) }) else {
      return nil
    }
    return SafeText(clusters: scalars.map { Cluster($0, width: 1) }, width: scalars.count)
  }

  /// Whether there are neither clusters nor line breaks.
  package var isEmpty: Bool { clusters.isEmpty && lineBreaks.isEmpty }

  /// The text as a string, with a newline for each line break.
  package var string: String {
    var result = ""
    var next = 0
    for (index, cluster) in clusters.enumerated() {
      while next < lineBreaks.count && lineBreaks[next] <= index {
        result += "\n"
        next += 1
      }
      result += cluster.text
    }
    return result + String(repeating: "\n", count: lineBreaks.count - next)
  }

  /// The text between the line breaks; at least one line, which may be empty.
  package var lines: [SafeText] {
    var start = 0
    var result: [SafeText] = []
    for end in lineBreaks + [clusters.count] {
      result.append(SafeText(clusters: Array(clusters[start..<end]), lineBreaks: []))
      start = end
    }
    return result
  }

  package mutating func append(_ other: SafeText) {
    for count in other.lineBreaks { lineBreaks.append(count + clusters.count) }
    clusters += other.clusters
    width += other.width
  }

  package static func + (left: SafeText, right: SafeText) -> SafeText {
    var result = left
    result.append(right)
    return result
  }
}

extension SafeText: ExpressibleByStringLiteral {
  /// Makes text from a literal in the program, which may contain line breaks; interpolation is
  /// deliberately impossible.
  package init(stringLiteral value: StaticString) {
    self.init(untrusted: value.description, mode: .multiLine, limit: .max)
  }
}

extension Sequence where Element == SafeText {
  /// All texts, one after another, with the separator between them.
  package func joined(separator: SafeText = .empty) -> SafeText {
    var result = SafeText.empty
    for (index, text) in enumerated() {
      if index > 0 { result.append(separator) }
      result.append(text)
    }
    return result
  }
}

package enum Alignment: Hashable, Sendable {
  case leading
  case center
  case trailing
}

extension SafeText {
  /// Wraps the text into lines of at most that many cells, broken between words where possible.
  ///
  /// Line breaks of the text are kept, blanks at the end of a broken line are dropped, words longer
  /// than a line are split, and lines may break anywhere between ideographs. A width of zero or
  /// less gives no lines, and a wide cluster in a line of one cell becomes `□`.
  ///
  /// - Complexity: O(n) in the number of clusters
  package func wrapped(width: Int) -> [SafeText] {
    guard width > 0 else { return [] }
    return lines.flatMap { $0.wrappedLine(width: width) }
  }

  private func wrappedLine(width: Int) -> [SafeText] {
    guard self.width > width else { return [self] }
    let fitting = width == 1 ? clusters.map { $0.width == 1 ? $0 : .box } : clusters
    return LineBreaker.lines(of: fitting, width: width) { $0 }.map {
      SafeText(clusters: Array($0), lineBreaks: [])
    }
  }

  /// The first line, truncated to that many cells, with the ellipsis at the end if text was
  /// removed.
  ///
  /// Later lines count as removed text.
  package func truncated(to width: Int, ellipsis: SafeText = .ellipsis) -> SafeText {
    guard !lineBreaks.isEmpty || self.width > width else { return self }
    let mark = ellipsis.width <= width ? ellipsis : .empty
    let line = lineBreaks.first.map { clusters[..<$0] } ?? clusters[...]
    return Self.prefix(of: line, width: width - mark.width) + mark
  }

  /// The text, padded with blanks at its end to that many cells.
  package func padded(to width: Int) -> SafeText {
    self + SafeText(repeating: .space, count: width - self.width)
  }

  private static func prefix(of clusters: ArraySlice<Cluster>, width: Int) -> SafeText {
    var used = 0
    let end = clusters.firstIndex { cluster in
      used += cluster.width
      return used > width
    }
    return SafeText(clusters: Array(clusters[..<(end ?? clusters.endIndex)]), lineBreaks: [])
  }
}

/// Finds the points at which a row of items has to be broken to fit a width.
enum LineBreaker {
  /// The lines into which what is drawn as clusters is broken, without the blanks at their ends.
  ///
  /// - Complexity: O(n) in the number of elements
  static func lines<Element>(
    of elements: [Element],
    width: Int,
    cluster: (Element) -> Cluster
  ) -> [ArraySlice<Element>] {
    let starts = lineStarts(in: 0..<elements.count, width: width) { index in
      let cluster = cluster(elements[index])
      return (cluster.width, cluster.isSpace)
    }
    return zip(starts, starts.dropFirst() + [elements.count]).map { start, end in
      var line = elements[start..<end]
      while let last = line.last, cluster(last).isSpace, line.count > 1 { line.removeLast() }
      return line
    }
  }

  /// The index of the first item of each line; the first is that of the range.
  ///
  /// Words move to the next line as a whole; a word longer than a line is split, and a line may break
  /// before and after a wide item. Blanks at the end of a line may hang over the edge. How lines go
  /// on depends only on where the last one begins.
  ///
  /// - Complexity: O(n) in the number of items
  static func lineStarts(
    in range: Range<Int>,
    width: Int,
    until isLast: (Int) -> Bool = { _ in false },
    item: (Int) -> (width: Int, isSpace: Bool)
  ) -> [Int] {
    var starts = [range.lowerBound]
    guard width > 0, width < .max else { return starts }
    var used = 0
    var lastBreak = range.lowerBound
    var usedAtBreak = 0
    var previousBreaks = false
    for index in range {
      let (wanted, isSpace) = item(index)
      let (cells, isWide) = (min(wanted, width), wanted > 1)
      let start = starts[starts.count - 1]
      if index > start, !isSpace, previousBreaks || isWide {
        lastBreak = index
        usedAtBreak = used
      }
      previousBreaks = isSpace || isWide
      if !isSpace, used + cells > width, index > start {
        if lastBreak > start {
          starts.append(lastBreak)
          used -= usedAtBreak
          if isLast(lastBreak) { break }
        }
        if used + cells > width, index > starts[starts.count - 1] {
          starts.append(index)
          used = 0
          if isLast(index) { break }
        }
      }
      used += cells
    }
    return starts
  }
}
