internal import RealtimeCore

/// An expression as a list of parts without references, so that none are counted as it is computed.
///
// Safety: written once, before anybody sees it; what the parts lend is held by the program.
final class RuleProgram: @unchecked Sendable {
  private let steps: Lent<RuleStep>
  private let operands: Lent<Int32>
  private let paths: Lent<RulePath>
  private let keys: Lent<LeafText>
  private let patterns: Lent<RegexProgram>
  private let sets: Lent<ScalarSet>
  private let asksForNewData: Lent<Bool>
  /// The texts that parts and keys are made of.
  private let texts: [Lent<UInt8>]

  /// What an evaluator works by, to be used while somebody holds the program.
  struct Code {
    let steps: UnsafeBufferPointer<RuleStep>
    let operands: UnsafeBufferPointer<Int32>
    let paths: UnsafeBufferPointer<RulePath>
    let keys: UnsafeBufferPointer<LeafText>
    let patterns: UnsafeBufferPointer<RegexProgram>
    let sets: UnsafeBufferPointer<ScalarSet>
    /// For each part whether its value depends on new data.
    let asksForNewData: UnsafeBufferPointer<Bool>
    /// Where the whole expression is among the parts: it comes last.
    var top: Int32 { Int32(steps.count - 1) }

    /// No expression.
    static var none: Code {
      Code(
        steps: UnsafeBufferPointer(start: nil, count: 0),
        operands: UnsafeBufferPointer(start: nil, count: 0),
        paths: UnsafeBufferPointer(start: nil, count: 0),
        keys: UnsafeBufferPointer(start: nil, count: 0),
        patterns: UnsafeBufferPointer(start: nil, count: 0),
        sets: UnsafeBufferPointer(start: nil, count: 0),
        asksForNewData: UnsafeBufferPointer(start: nil, count: 0)
      )
    }
  }

  let code: Code

  /// Writes an expression down, part by part.
  init(_ expression: Expression) {
    var builder = RuleProgramBuilder()
    _ = builder.add(expression)
    steps = Lent(builder.steps)
    operands = Lent(builder.operands)
    paths = Lent(builder.paths)
    keys = Lent(builder.keys)
    patterns = Lent(builder.patterns)
    sets = Lent(builder.sets)
    asksForNewData = Lent(builder.asksForNewData)
    texts = builder.texts
    code = Code(
      steps: steps.elements,
      operands: operands.elements,
      paths: paths.elements,
      keys: keys.elements,
      patterns: patterns.elements,
      sets: sets.elements,
      asksForNewData: asksForNewData.elements
    )
  }
}
