/// Text that cannot do anything to a terminal but be shown; the drawing layer accepts no other.
///
/// A value holds clusters of known width and the line breaks between them. Whatever it is made
/// of, it contains no control characters, no bidirectional controls, nothing invisible and nothing
/// whose width is unknown. Making safe text of the ``string`` of safe text changes nothing.
package struct SafeText: Hashable, Sendable {
  /// How line breaks and bidirectional controls are treated.
  package enum Mode: Hashable, Sendable {
    /// Names and titles: line breaks become `⏎`, bidirectional controls are spelled out.
    case singleLine
    /// Bodies: line breaks stay, bidirectional controls are left out.
    case multiLine
  }

  /// The number of combining marks that stay with their base; terminals and ncurses keep four.
  package static let markLimit = 4
  /// The number of clusters of a name that are worth showing.
  package static let nameLimit = 40
  /// The number of clusters that a single line keeps unless told otherwise.
  package static let lineLimit = 1_000
  /// The number of clusters that a body keeps unless told otherwise.
  package static let bodyLimit = 10_000
  /// Text without any cluster.
  package static let empty = SafeText()
  /// The end of something cut, unless told otherwise.
  package static let ellipsis: SafeText = "…"

  /// What is shown, in order, without the line breaks.
  package private(set) var clusters: [Cluster]
  /// For each line break, the number of clusters before it; ascending.
  package private(set) var lineBreaks: [Int]
  /// The number of cells of all clusters together.
  package private(set) var width: Int

  /// Makes text without any cluster.
  package init() {
    self.init(clusters: [], lineBreaks: [])
  }

  /// Makes harmless text of anything: keys, names, bodies, messages of servers.
  ///
  /// Text with more clusters than the limit ends in `…`.
  package init(untrusted text: String, mode: Mode = .singleLine, limit: Int? = nil) {
    let limit = max(1, limit ?? (mode == .singleLine ? Self.lineLimit : Self.bodyLimit))
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

  /// Makes harmless text on a single line of characters that were taken from anywhere.
  package init(untrusted scalars: [Unicode.Scalar], limit: Int) {
    let limit = max(1, limit)
    if let plain = Self.plain(scalars, limit: limit) {
      self = plain
    } else {
      var sanitizer = Sanitizer(mode: .singleLine, limit: limit)
      self = sanitizer.sanitize(scalars, atMost: scalars.count)
    }
  }

  /// Makes text of a literal of the program, which may contain line breaks.
  package init(literal: StaticString) {
    self.init(untrusted: literal.description, mode: .multiLine, limit: .max)
  }

  /// Makes the decimal digits of a number.
  package init(_ number: Int) {
    self.init(untrusted: String(number))
  }

  /// Makes the same cluster over and over again.
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

  /// Text of printable ASCII only, which is safe as it is; nil if there is anything else, or too much.
  ///
  /// Most text is like this, and it need not go through the sanitiser scalar by scalar.
  private static func plain(
    _ scalars: some RandomAccessCollection<Unicode.Scalar>,
    limit: Int
  ) -> SafeText? {
    guard scalars.count <= limit, scalars.allSatisfy({ (" "..."~").contains($0) }) else {
      return nil
    }
    return SafeText(clusters: scalars.map { Cluster($0, width: 1) }, width: scalars.count)
  }

  /// Whether there is neither a cluster nor a line break.
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

  /// Adds text at the end.
  package mutating func append(_ other: SafeText) {
    for count in other.lineBreaks { lineBreaks.append(count + clusters.count) }
    clusters += other.clusters
    width += other.width
  }

  /// The two texts one after the other.
  package static func + (left: SafeText, right: SafeText) -> SafeText {
    var result = left
    result.append(right)
    return result
  }
}

extension SafeText: ExpressibleByStringLiteral {
  /// Makes text of a literal of the program; interpolation is not possible on purpose.
  package init(stringLiteral value: StaticString) {
    self.init(literal: value)
  }
}

extension Sequence where Element == SafeText {
  /// All the texts one after the other, with the separator between them.
  package func joined(separator: SafeText = .empty) -> SafeText {
    var result = SafeText()
    for (index, text) in enumerated() {
      if index > 0 { result.append(separator) }
      result.append(text)
    }
    return result
  }
}
