internal import RealtimeCore

/// The evaluation of the rules for one request.
struct Inspection: ~Copyable {
  private let rules: RuleSet
  private let isExplaining: Bool
  private var evaluator: Evaluator
  /// The rules at the frames of the evaluator, as far as rules exist on the way to the requested
  /// location.
  private var plans: RuleStack<UnsafePointer<RulePlan>>
  private var evaluations: [Explanation.Evaluation] = []
  /// Why the last failed rule failed.
  private var reason = Explanation.Outcome.refused
  /// The decision of the first rule that denied.
  private var refusal: Decision?

  /// Starts at the root; the data that the request borrows must outlive the inspection.
  private init(
    of request: RuleRequest,
    by rules: RuleSet,
    explaining: Bool,
    steps: Int,
    in memory: UnsafeMutableRawPointer
  ) {
    self.rules = rules
    isExplaining = explaining
    evaluator = Evaluator(request, steps: steps, in: memory)
    plans = RuleStack(
      in: evaluator.spare,
      capacity: Evaluator.spareBytes / MemoryLayout<UnsafePointer<RulePlan>>.stride
    )
    plans.push(rules.top.plan)
  }

  /// Makes an inspection that exists during a closure.
  static func run<Result>(
    of request: RuleRequest,
    by rules: RuleSet,
    explaining: Bool,
    steps: Int,
    _ body: (inout Inspection) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(
      byteCount: Evaluator.usualBytes,
      alignment: MemoryLayout<RuleFrame>.alignment
    ) { memory in
      // Only empty memory has no address, and this is not empty.
      let start =
        memory.baseAddress
        ?? .allocate(
          byteCount: Evaluator.usualBytes,
          alignment: MemoryLayout<RuleFrame>.alignment
        )
      defer { if memory.baseAddress == nil { start.deallocate() } }
      var inspection = Inspection(
        of: request,
        by: rules,
        explaining: explaining,
        steps: steps,
        in: start
      )
      return body(&inspection)
    }
  }

  /// Whether the request has taken more steps than it may.
  var isExhausted: Bool { evaluator.budget.isExhausted }

  /// A rule that has been evaluated, and its frame; if it failed, then for the last ``reason``.
  private struct Verdict {
    let rule: Unmanaged<Rule>
    let depth: Int
  }

  private mutating func holds(_ entry: RulePlan.Entry, at depth: Int) -> Bool {
    var isSatisfied = false
    do throws(EvaluationError) {
      isSatisfied = try evaluator.holds(entry.program)
      if !isSatisfied { reason = .refused }
    } catch {
      reason = .failed(error.message, error.offset.map(rules.map.position))
    }
    if isExplaining, evaluations.count < RulesLimits.listedEvaluations {
      let outcome = isSatisfied ? .satisfied : reason
      let rule = entry.rule.takeUnretainedValue()
      evaluations.append(evaluation(of: rule, at: depth, outcome: outcome))
    }
    return isSatisfied
  }

  // MARK: Reading

  mutating func read(_ path: Path) -> Decision {
    descend(to: path)
    var last: Verdict?
    for depth in 0..<plans.count {
      guard let entry = plans[depth].pointee.read else { continue }
      if holds(entry, at: depth) {
        return decision(true, by: Verdict(rule: entry.rule, depth: depth))
      }
      last = Verdict(rule: entry.rule, depth: depth)
    }
    return decision(false, by: last)
  }

  /// Descends from the root towards a location as far as rules exist.
  private mutating func descend(to path: Path) {
    plans.truncate(to: 1)
    evaluator.ascend(to: 0)
    // This counts because a request may name many locations.
    try? evaluator.budget.spend(RulesLimits.stepsPerKey * path.count)
    // A priority is governed by the rules of its node.
    let ruled = path.isPriority ? path.count - 1 : path.count
    for index in 0..<ruled {
      let key = path.keys[index]
      let depth = plans.count - 1
      let text = evaluator.scratch.keep(key)
      var guess = 0
      guard let plan = plans[depth].pointee.child(text, guess: &guess) else { break }
      plans.push(plan)
      let above = evaluator.frames[depth]
      let (node, newNode) = above.node.child(key, beside: above.newNode)
      evaluator.enter(RuleFrame(key: text, node: node, newNode: newNode))
    }
  }

  // MARK: Writing

  /// Whether the rules let the client write any new data at a location.
  ///
  /// Also true if the budget is exhausted before that is known.
  mutating func couldWrite(_ path: Path) -> Bool {
    descend(to: path)
    for depth in 0..<plans.count {
      guard let entry = plans[depth].pointee.write else { continue }
      // A rule whose evaluation fails does not hold.
      if (try? evaluator.couldHold(entry.program)) == true { return true }
      if evaluator.budget.isExhausted { return true }
    }
    return false
  }

  mutating func write(_ paths: [Path]) -> Decision {
    var granting: Verdict?
    for path in paths {
      granting = grant(path)
      if granting == nil { return refusal ?? decision(false, by: nil) }
    }
    // A request without changes needs no permission.
    return decision(true, by: granting)
  }

  /// The same for one location, without the reasons.
  mutating func allowsWrite(_ path: Path) -> Bool { grant(path) != nil }

  /// The rule that grants a write, or nil when there is a ``refusal``.
  private mutating func grant(_ path: Path) -> Verdict? {
    descend(to: path)
    var last: Verdict?
    for depth in 0..<plans.count {
      guard let entry = plans[depth].pointee.write else { continue }
      last = Verdict(rule: entry.rule, depth: depth)
      if holds(entry, at: depth) { return areValid(at: path) ? last : nil }
    }
    refusal = decision(false, by: last)
    return nil
  }

  /// Whether the data above, at and below a location is valid.
  private mutating func areValid(at path: Path) -> Bool {
    for depth in 0..<plans.count {
      let frame = evaluator.frames.pointer(to: depth)
      if isKept(plans[depth], from: frame.pointee.node, to: frame.pointee.newNode) { continue }
      if !isValid(plans[depth], at: depth) { return false }
    }
    // The key of a priority has no plan of its own.
    guard plans.count > path.count || (plans.count == path.count && path.isPriority) else {
      return true
    }
    return isValid(below: plans[plans.count - 1])
  }

  /// Whether the `.validate` of a location holds; without new data, it is not evaluated.
  private mutating func isValid(_ plan: UnsafePointer<RulePlan>, at depth: Int) -> Bool {
    guard let entry = plan.pointee.validate, !evaluator.frames[depth].newNode.isEmpty else {
      return true
    }
    if holds(entry, at: depth) { return true }
    refusal = decision(false, by: Verdict(rule: entry.rule, depth: depth))
    return false
  }

  /// Whether data is an unchanged leaf, for which its rule certainly holds.
  ///
  /// Most children of a written location are such leaves; they need no frame.
  @inline(__always)
  private func isKept(
    _ plan: UnsafePointer<RulePlan>,
    from old: NodeView,
    to value: NodeView
  ) -> Bool {
    let kinds = plan.pointee.keepable
    guard !kinds.isEmpty, !isExplaining else { return false }
    return value.kindOfSameLeaf(as: old).map(kinds.include) == true
  }

  /// Whether the data below the last frame is valid; only locations with rules are visited.
  private mutating func isValid(below plan: UnsafePointer<RulePlan>) -> Bool {
    guard plan.pointee.hasValidationBelow else { return true }
    let depth = evaluator.frames.count - 1
    let frame = evaluator.frames[depth]
    let childCount = frame.newNode.childCount
    guard childCount > 0 else { return true }
    let named = plan.pointee.children
    if let isValid = isValidByTable(plan, depth: depth, childCount: childCount) { return isValid }
    if plan.pointee.validatesAllChildren || childCount < named.count {
      var isValid = true
      var guess = 0
      frame.newNode.forEachChild(beside: frame.node) { key, value, old in
        guard let child = plan.pointee.child(key, guess: &guess) else { return true }
        let below = RuleFrame(key: key, node: old, newNode: value)
        isValid = self.isValid(child, in: below, depth: depth + 1)
        return isValid
      }
      return isValid
    }
    for child in named {
      let value = frame.newNode.child(child.name)
      guard !value.isEmpty else { continue }
      let below = RuleFrame(
        key: child.name,
        node: frame.node.child(child.name),
        newNode: value
      )
      if !isValid(child.plan, in: below, depth: depth + 1) { return false }
    }
    return true
  }

  /// Whether the data below the last frame is valid, if all children that must be visited are in
  /// its table.
  private mutating func isValidByTable(
    _ plan: UnsafePointer<RulePlan>,
    depth: Int,
    childCount: Int
  ) -> Bool? {
    let (named, names) = (plan.pointee.children, plan.pointee.names)
    guard var table = evaluator.table(of: depth, names) else { return nil }
    let present = evaluator.frames[depth].newPresent
    // Children whose names are not in the table would have to be visited as well.
    if plan.pointee.validatesAllChildren,
      (present & plan.pointee.ruledNames).nonzeroBitCount < childCount
    {
      return nil
    }
    for child in named {
      guard let nameIndex = child.nameIndex, present & child.mask != 0 else { continue }
      let (old, value) = (table[nameIndex], table[names.count + nameIndex])
      if isKept(child.plan, from: old, to: value),
        evaluator.budget.spendIfAble(RulesLimits.stepsPerKey)
      {
        continue
      }
      let below = RuleFrame(key: child.name, node: old, newNode: value)
      if !isValid(child.plan, in: below, depth: depth + 1) { return false }
      // Adding tables may have moved this one.
      table = evaluator.table(of: depth, names) ?? table
    }
    return true
  }

  /// Whether the data at and below a child of the last frame is valid.
  private mutating func isValid(
    _ plan: UnsafePointer<RulePlan>,
    in frame: RuleFrame,
    depth: Int
  ) -> Bool {
    evaluator.enter(frame)
    let isValid =
      (isKept(plan, from: frame.node, to: frame.newNode) || isValid(plan, at: depth))
      && (!plan.pointee.hasValidationBelow || self.isValid(below: plan))
      && (evaluator.budget.spendIfAble(RulesLimits.stepsPerKey) || exhaust(by: plan, at: depth))
    evaluator.ascend(to: depth - 1)
    return isValid
  }

  /// Refuses a request that visits too much data; returns false.
  private mutating func exhaust(by plan: UnsafePointer<RulePlan>, at depth: Int) -> Bool {
    let rule =
      plan.pointee.validate?.rule.takeUnretainedValue()
      ?? Rule(
        kind: .validate,
        path: location(depth).keys.map(\.text),
        source: "",
        position: SourcePosition(line: 1, column: 1),
        expression: .literal(.bool(false))
      )
    let outcome = Explanation.Outcome.failed(evaluator.budget.exhaust().message, nil)
    refusal = decision(false, by: rule, at: depth, outcome: outcome)
    return false
  }

  // MARK: Explaining

  // Mutating although these change nothing: otherwise the inspection would be copied for the call.

  private mutating func decision(_ isAllowed: Bool, by verdict: Verdict?) -> Decision {
    if let verdict, !isAllowed || isExplaining {
      return decision(
        isAllowed,
        by: verdict.rule.takeUnretainedValue(),
        at: verdict.depth,
        outcome: isAllowed ? .satisfied : reason
      )
    }
    return Decision(
      isAllowed: isAllowed,
      isLasting: verdict?.rule._withUnsafeGuaranteedRef { $0.isLasting } == true,
      isExhausted: !isAllowed && isExhausted,
      explanation: Explanation(decisive: nil, bindings: [], evaluations: evaluations)
    )
  }

  private mutating func decision(
    _ isAllowed: Bool,
    by rule: Rule,
    at depth: Int,
    outcome: Explanation.Outcome
  ) -> Decision {
    Decision(
      isAllowed: isAllowed,
      isLasting: isAllowed && rule.isLasting,
      isExhausted: !isAllowed && isExhausted,
      explanation: Explanation(
        decisive: evaluation(of: rule, at: depth, outcome: outcome),
        bindings: isExplaining ? bindings(of: rule, at: depth) : [],
        evaluations: evaluations
      )
    )
  }

  private func evaluation(
    of rule: Rule,
    at depth: Int,
    outcome: Explanation.Outcome
  ) -> Explanation.Evaluation {
    Explanation.Evaluation(
      kind: rule.kind,
      rulePath: rule.path,
      location: location(depth),
      expression: rule.source,
      position: rule.position,
      outcome: outcome
    )
  }

  private func location(_ depth: Int) -> Path {
    Path((0..<depth).map { ChildKey(evaluator.frames[$0 + 1].key) })
  }

  /// The values of the names in a rule.
  private func bindings(of rule: Rule, at depth: Int) -> [Explanation.Binding] {
    let frame = evaluator.frames[depth]
    var bindings = rule.captures.map { name, frame in
      let key = evaluator.frames[frame].key
      return Explanation.Binding(name: name, text: JSONValue.string(key.string).text)
    }
    let auth = Self.text(evaluator.request.client.auth)
    bindings.append(Explanation.Binding(name: "auth", text: auth))
    bindings.append(Explanation.Binding(name: "data", text: Self.text(frame.node.node)))
    if evaluator.request.newRoot != nil {
      bindings.append(Explanation.Binding(name: "newData", text: Self.text(frame.newNode.node)))
    }
    return bindings
  }

  private static func text(_ value: RuleValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): String(value)
    case .number(let value): NumberText.of(value)
    case .string(let text): shortened(JSONValue.string(text.string).text)
    case .map(let members): shortened(members.takeUnretainedValue().json.text)
    case .object: value.kind
    }
  }

  private static func text(_ node: Node) -> String {
    if let children = node.children {
      let keys = children.map.prefix(8).map(\.key.text).joined(separator: ", ")
      return "{\(keys)\(children.count > 8 ? ", …" : "")} (\(children.count) children)"
    }
    return shortened(node.json(.value).text)
  }

  private static func shortened(_ text: String) -> String {
    text.count > 120 ? text.prefix(120) + "…" : text
  }
}
