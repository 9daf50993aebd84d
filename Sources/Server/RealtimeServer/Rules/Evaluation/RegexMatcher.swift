internal import RealtimeCore

/// Runs an automaton in all its states at once: each character costs at most one step for each
/// state.
struct RegexMatcher {
  /// The cost of finding the other case of an ASCII character.
  private static let stepsPerCase = 4
  /// The cost of looking up the cases of any other character.
  private static let stepsPerOtherCase = 32

  private let program: RegexProgram
  private var current: [Int] = []
  private var following: [Int] = []
  /// For each state, the number of the character, from 1, at which it was last entered.
  private var entered: [Int]
  private var pending: [Int] = []
  private var steps = 0

  private init(_ program: RegexProgram) {
    self.program = program
    entered = [Int](repeating: 0, count: program.instructions.count)
  }

  /// Whether the pattern matches anywhere in a text.
  static func matches(
    _ program: RegexProgram,
    in text: LeafText,
    budget: inout StepBudget
  ) throws(EvaluationError) -> Bool {
    var matcher = RegexMatcher(program)
    return try matcher.search(text.string, budget: &budget)
  }

  private mutating func search(
    _ text: String,
    budget: inout StepBudget
  ) throws(EvaluationError) -> Bool {
    var scalars = text.unicodeScalars.makeIterator()
    var scalar = scalars.next()
    var position = 0
    while true {
      if position == 0 || !program.isAnchored {
        if enter(0, at: position, isEnd: scalar == nil) { return true }
      }
      guard let value = scalar?.value, !current.isEmpty || !program.isAnchored else { return false }
      scalar = scalars.next()
      let otherCases = program.ignoresCase ? ScalarSet.otherCases(value) : []
      if program.ignoresCase { steps += value < 0x80 ? Self.stepsPerCase : Self.stepsPerOtherCase }
      for state in current {
        guard case .take(let set) = program.instructions[state],
          program.sets[set].contains(value, otherCases: otherCases)
        else { continue }
        if enter(state + 1, at: position + 1, isEnd: scalar == nil, later: true) { return true }
      }
      try budget.spend(current.count + steps + 1)
      steps = 0
      swap(&current, &following)
      following.removeAll(keepingCapacity: true)
      position += 1
    }
  }

  /// Enters a state and all states reachable without a character; returns whether one accepts.
  private mutating func enter(
    _ state: Int,
    at position: Int,
    isEnd: Bool,
    later: Bool = false
  ) -> Bool {
    pending.append(state)
    while let state = pending.popLast() {
      if entered[state] == position + 1 { continue }
      entered[state] = position + 1
      steps += 1
      switch program.instructions[state] {
      case .take: if later { following.append(state) } else { current.append(state) }
      case .fork(let first, let second):
        pending.append(second)
        pending.append(first)
      case .jump(let target): pending.append(target)
      case .start: if position == 0 { pending.append(state + 1) }
      case .end: if isEnd { pending.append(state + 1) }
      case .accept:
        pending.removeAll(keepingCapacity: true)
        return true
      }
    }
    return false
  }
}
