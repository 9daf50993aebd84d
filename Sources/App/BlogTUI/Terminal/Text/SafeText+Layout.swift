extension SafeText {
  /// The text cut into lines of at most that many cells, broken between words where possible.
  ///
  /// Line breaks of the text stay, blanks at the end of a broken line go, words longer than a line
  /// are cut, and ideographs may be parted anywhere. A width of zero or less gives no lines, and a
  /// wide cluster in a line of one cell becomes `□`.
  ///
  /// - Complexity: O(n) in the number of clusters.
  package func wrapped(width: Int) -> [SafeText] {
    guard width > 0 else { return [] }
    return lines.flatMap { $0.wrappedLine(width: width) }
  }

  private func wrappedLine(width: Int) -> [SafeText] {
    guard self.width > width else { return [self] }
    let fitting = width == 1 ? clusters.map { $0.width == 1 ? $0 : Self.box } : clusters
    let starts = LineBreaker.lineStarts(count: fitting.count, width: width) { index in
      LineBreaker.Item(
        width: fitting[index].width,
        isSpace: fitting[index].isSpace,
        isBreakable: fitting[index].width == 2
      )
    }
    return starts.indices.map { index in
      let end = index + 1 < starts.count ? starts[index + 1] : fitting.count
      var line = fitting[starts[index]..<end]
      while let last = line.last, last.isSpace, line.count > 1 { line.removeLast() }
      return SafeText(clusters: Array(line), lineBreaks: [])
    }
  }

  private static let box = Cluster("□", width: 1)

  /// The first line, cut to at most that many cells with the ellipsis at the end if anything went.
  ///
  /// Later lines count as something that went.
  package func truncated(to width: Int, ellipsis: SafeText = .ellipsis) -> SafeText {
    guard !lineBreaks.isEmpty || self.width > width else { return self }
    let mark = ellipsis.width <= width ? ellipsis : .empty
    let line = lineBreaks.first.map { clusters[..<$0] } ?? clusters[...]
    return Self.prefix(of: line, width: width - mark.width) + mark
  }

  /// The text with blanks at its end (or at its start) up to that many cells.
  package func padded(to width: Int, aligned alignment: Alignment = .leading) -> SafeText {
    let missing = max(0, width - self.width)
    let blanks = SafeText(repeating: .space, count: missing)
    switch alignment {
    case .leading:
      return self + blanks
    case .trailing:
      return blanks + self
    case .center:
      let left = SafeText(repeating: .space, count: missing / 2)
      return left + self + SafeText(repeating: .space, count: missing - missing / 2)
    }
  }

  /// The text cut or padded to exactly that many cells.
  package func fitted(
    to width: Int,
    aligned alignment: Alignment = .leading,
    ellipsis: SafeText = .ellipsis
  ) -> SafeText {
    truncated(to: max(0, width), ellipsis: ellipsis).padded(to: width, aligned: alignment)
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
