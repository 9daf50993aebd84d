/// Where the lines of a rules document start, so that an offset can be told as line and column.
struct SourceMap: Sendable {
  private let lineStarts: [Int]

  init(_ source: [Unicode.Scalar]) {
    var starts = [0]
    for (offset, scalar) in source.enumerated() where scalar == "\n" { starts.append(offset + 1) }
    lineStarts = starts
  }

  /// The place of a character, counted from the start of the document.
  func position(of offset: Int) -> SourcePosition {
    var low = 0
    var high = lineStarts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return SourcePosition(line: low + 1, column: offset - lineStarts[low] + 1)
  }

  func error(_ problem: RuleProblem) -> RulesError {
    let position = position(of: problem.offset)
    return RulesError(line: position.line, column: position.column, message: problem.message)
  }
}
