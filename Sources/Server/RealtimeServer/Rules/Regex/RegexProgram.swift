/// A regular expression compiled to a nondeterministic automaton, which runs in linear time.
struct RegexProgram: Sendable {
  enum Instruction: Sendable {
    /// Consumes a character of a set.
    case take(Int)
    /// Continues at two instructions.
    case fork(Int, Int)
    case jump(Int)
    case start
    case end
    case accept
  }

  private(set) var instructions: [Instruction] = []
  private(set) var sets: [ScalarSet] = []
  private var setIndexes: [ScalarSet: Int] = [:]
  let ignoresCase: Bool
  /// Whether a match can begin only at the start of the text.
  private(set) var isAnchored = false

  /// The set, if the pattern is a single, unanchored character of a set.
  private(set) var only: ScalarSet?

  init(_ pattern: [Unicode.Scalar], ignoresCase: Bool) throws(RegexProblem) {
    self.ignoresCase = ignoresCase
    let syntax = try RegexParser.parse(pattern)
    switch syntax {
    case .start: isAnchored = true
    case .sequence(let items): if case .start? = items.first { isAnchored = true }
    case .set(let set): only = set
    case .end, .choice, .repetition: break
    }
    try emit(syntax)
    try append(.accept)
  }

  private mutating func append(_ instruction: Instruction) throws(RegexProblem) {
    guard instructions.count < RulesLimits.regexStates else {
      throw RegexProblem(
        message: "the pattern is too large; its repetitions expand to more than"
          + " \(RulesLimits.regexStates) states",
        index: 0
      )
    }
    instructions.append(instruction)
  }

  private mutating func emit(_ syntax: RegexSyntax) throws(RegexProblem) {
    switch syntax {
    case .set(let set): try append(.take(index(of: set)))
    case .start: try append(.start)
    case .end: try append(.end)
    case .sequence(let items): for item in items { try emit(item) }
    case .choice(let branches): try emit(choice: branches)
    case .repetition(let item, let least, let most):
      for _ in 0..<least {
        let size = instructions.count
        try emit(item)
        // An item without states stays so however often it is repeated, but repeating it takes
        // time.
        if instructions.count == size { break }
      }
      if let most {
        try emit(item, upTo: most - least)
      } else {
        let fork = instructions.count
        try append(.fork(0, 0))
        try emit(item)
        try append(.jump(fork))
        instructions[fork] = .fork(fork + 1, instructions.count)
      }
    }
  }

  private mutating func emit(_ item: RegexSyntax, upTo count: Int) throws(RegexProblem) {
    var forks: [Int] = []
    for _ in 0..<count {
      forks.append(instructions.count)
      try append(.fork(0, 0))
      try emit(item)
    }
    for fork in forks { instructions[fork] = .fork(fork + 1, instructions.count) }
  }

  private mutating func emit(choice branches: [RegexSyntax]) throws(RegexProblem) {
    var jumps: [Int] = []
    for (index, branch) in branches.enumerated() {
      let fork = instructions.count
      let isLast = index == branches.count - 1
      if !isLast { try append(.fork(0, 0)) }
      try emit(branch)
      if isLast { continue }
      jumps.append(instructions.count)
      try append(.jump(0))
      instructions[fork] = .fork(fork + 1, instructions.count)
    }
    for jump in jumps { instructions[jump] = .jump(instructions.count) }
  }

  private mutating func index(of set: ScalarSet) -> Int {
    if let index = setIndexes[set] { return index }
    sets.append(set)
    setIndexes[set] = sets.count - 1
    return sets.count - 1
  }
}
