extension LightMarkdown {
  /// Whether the place before a unit of a line is in code: in a block, or behind backticks that
  /// begin code, even if nothing ends it yet.
  ///
  /// - Complexity: O(n) in the number of lines before it and in the length of the line
  package static func isCode(
    at index: Int,
    of line: [Unit],
    after lines: some Sequence<[Unit]>
  ) -> Bool {
    var open: (sign: Unicode.Scalar, count: Int)?
    for fence in lines.lazy.compactMap({ fence($0) }) {
      guard let start = open else {
        open = (fence.sign, fence.count)
        continue
      }
      if fence.sign == start.sign, fence.count >= start.count, fence.isBare { open = nil }
    }
    return open != nil || fence(line) != nil || isInSpan(index, of: line)
  }

  private static func isInSpan(_ index: Int, of line: [Unit]) -> Bool {
    var start = 0
    while start < index {
      if line[start].plain == "\\" {
        start += 2
        continue
      }
      let count = line[start...].prefix { $0.plain == "`" }.count
      guard count > 0 else {
        start += 1
        continue
      }
      var end = start + count
      var closing = 0
      while end < line.count {
        closing = line[end...].prefix { $0.plain == "`" }.count
        end += max(1, closing)
        if closing == count { break }
      }
      if closing != count || end > index { return true }
      start = end
    }
    return false
  }
}
