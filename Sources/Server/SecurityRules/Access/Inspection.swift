internal import RealtimeCore

/// The evaluation of the rules for one request.
struct Inspection: ~Copyable {
  private let rules: RuleSet
  private let isExplaining: Bool
  private var evaluator: Evaluator
  private var evaluations: [Explanation.Evaluation] = []

  /// Starts at the root; the data that the request borrows must outlive the inspection.
  init(of request: RuleRequest, by rules: RuleSet, explaining: Bool, steps: Int) {
    self.rules = rules
    isExplaining = explaining
    evaluator = Evaluator(request, steps: steps)
  }

  /// Why the last failed rule failed.
  private var reason = Explanation.Outcome.refused
  /// The decision of the first rule that denied.
  private var refusal: Decision?

  /// The result of a rule at one of the frames of the evaluator.
  private struct Verdict {
    let rule: Rule
    let depth: Int
    let outcome: Explanation.Outcome
  }

  private mutating func holds(_ rule: Rule, at depth: Int) -> Bool {
    var isSatisfied = false
    do throws(EvaluationError) {
      isSatisfied = try evaluator.holds(rule.program, at: depth)
      if !isSatisfied { reason = .refused }
    } catch {
      reason = .failed(error.message, error.offset.map(rules.map.position))
    }
    if isExplaining, evaluations.count < RulesLimits.listedEvaluations {
      let outcome = isSatisfied ? .satisfied : reason
      evaluations.append(evaluation(Verdict(rule: rule, depth: depth, outcome: outcome)))
    }
    return isSatisfied
  }

  // MARK: Reading

  mutating func read(_ path: Path) -> Decision {
    var last: Verdict?
    for (depth, node) in descend(to: path).enumerated() {
      guard let rule = node.read else { continue }
      if holds(rule, at: depth) {
        return decision(true, by: Verdict(rule: rule, depth: depth, outcome: .satisfied))
      }
      last = Verdict(rule: rule, depth: depth, outcome: reason)
    }
    return decision(false, by: last)
  }

  /// Descends towards a location as far as there are rules, and returns the nodes on the way.
  private mutating func descend(to path: Path) -> [RuleNode] {
    var node = rules.top
    var nodes: [RuleNode] = []
    nodes.reserveCapacity(path.count + 1)
    nodes.append(node)
    // Counts because a request may name many locations.
    try? evaluator.budget.spend(RulesLimits.stepsPerKey * path.count)
    for key in path.keys where key != .priority {
      let text = key.withUTF8 { evaluator.scratch.keep($0) }
      guard let child = node.child(text) else { break }
      node = child.node
      nodes.append(node)
      let above = evaluator.frames[nodes.count - 2]
      evaluator.enter(
        RuleFrame(
          key: text,
          node: above.node.child(key),
          newNode: above.newNode?.child(key)
        ),
        isCaptured: child.isCaptured
      )
    }
    return nodes
  }

  // MARK: Writing

  /// Whether there may be new data that the rules let the client write at a location.
  ///
  /// True as well if the budget is exhausted before that is known.
  mutating func couldWrite(_ path: Path) -> Bool {
    evaluator.returnToRoot()
    for (depth, node) in descend(to: path).enumerated() {
      guard let rule = node.write else { continue }
      // A rule whose evaluation fails does not hold.
      if (try? evaluator.couldHold(rule.program, at: depth)) == true { return true }
      if evaluator.budget.isExhausted { return true }
    }
    return false
  }

  mutating func write(_ paths: [Path]) -> Decision {
    var granting: Verdict?
    for path in paths {
      evaluator.returnToRoot()
      let nodes = descend(to: path)
      var (isGranted, last) = (false, Verdict?.none)
      for (depth, node) in nodes.enumerated() {
        guard !isGranted, let rule = node.write else { continue }
        isGranted = holds(rule, at: depth)
        last = Verdict(rule: rule, depth: depth, outcome: isGranted ? .satisfied : reason)
      }
      guard isGranted else { return decision(false, by: last) }
      granting = last
      if !areValid(nodes, at: path), let refusal { return refusal }
    }
    // A request without changes needs no permission.
    return decision(true, by: granting)
  }

  /// Whether the data above, at and below a location are valid.
  private mutating func areValid(_ nodes: [RuleNode], at path: Path) -> Bool {
    for (depth, node) in nodes.enumerated() where !isValid(node, at: depth) { return false }
    let depth = path.isPriority ? path.count - 1 : path.count
    return nodes.count <= depth || isValid(below: nodes[depth])
  }

  /// Whether the `.validate` of a location holds; without new data, it is not evaluated.
  private mutating func isValid(_ node: RuleNode, at depth: Int) -> Bool {
    guard let rule = node.validate, evaluator.frames[depth].newNode?.isEmpty == false,
      !holds(rule, at: depth)
    else { return true }
    refusal = decision(false, by: Verdict(rule: rule, depth: depth, outcome: reason))
    return false
  }

  /// Whether the data below the last frame are valid; only data with rules are visited.
  private mutating func isValid(below node: RuleNode) -> Bool {
    guard node.hasValidationBelow else { return true }
    let frame = evaluator.frames[evaluator.frames.count - 1]
    guard let data = frame.newNode, data.childCount > 0 else { return true }
    if node.validatesAllChildren || data.childCount < node.literals.count {
      var isValid = true
      data.forEachChild { key, value in
        guard let child = node.child(key) else { return true }
        let below = RuleFrame(key: key, node: frame.node.child(key), newNode: value)
        isValid = self.isValid(child.node, in: below, isCaptured: child.isCaptured)
        return isValid
      }
      return isValid
    }
    for (key, child) in node.literals {
      let value = data.child(key)
      guard !value.isEmpty else { continue }
      let below = RuleFrame(key: key, node: frame.node.child(key), newNode: value)
      if !isValid(child, in: below, isCaptured: false) { return false }
    }
    return true
  }

  /// Whether the data at and below a child of the last frame are valid.
  private mutating func isValid(
    _ node: RuleNode,
    in frame: RuleFrame,
    isCaptured: Bool
  ) -> Bool {
    evaluator.enter(frame, isCaptured: isCaptured)
    defer { evaluator.leave(wasCaptured: isCaptured) }
    let depth = evaluator.frames.count - 1
    guard isValid(node, at: depth), isValid(below: node) else { return false }
    do throws(EvaluationError) {
      try evaluator.budget.spend(RulesLimits.stepsPerKey)
      return true
    } catch {
      refusal = exhausted(node, at: depth, because: error)
      return false
    }
  }

  /// The denial of a request that visits too much data.
  private func exhausted(
    _ node: RuleNode,
    at depth: Int,
    because error: EvaluationError
  ) -> Decision {
    let rule =
      node.validate
      ?? Rule(
        kind: .validate,
        path: location(depth).description,
        source: "",
        position: SourcePosition(line: 1, column: 1),
        expression: .literal(.bool(false))
      )
    let outcome = Explanation.Outcome.failed(error.message, nil)
    return decision(false, by: Verdict(rule: rule, depth: depth, outcome: outcome))
  }

  // MARK: Explaining

  private func decision(_ isAllowed: Bool, by verdict: Verdict?) -> Decision {
    Decision(
      isAllowed: isAllowed,
      isLasting: isAllowed && verdict?.rule.isLasting == true,
      explanation: Explanation(
        decisive: isAllowed && !isExplaining ? nil : verdict.map { evaluation($0) },
        bindings: isExplaining ? verdict.map { bindings($0) } ?? [] : [],
        evaluations: evaluations
      )
    )
  }

  private func evaluation(_ verdict: Verdict) -> Explanation.Evaluation {
    Explanation.Evaluation(
      kind: verdict.rule.kind,
      rulePath: verdict.rule.path,
      location: location(verdict.depth),
      expression: verdict.rule.source,
      position: verdict.rule.position,
      outcome: verdict.outcome
    )
  }

  private func location(_ depth: Int) -> Path {
    Path(evaluator.frames[1..<(depth + 1)].map { ChildKey($0.key) })
  }

  /// The values of the names in a rule.
  private func bindings(_ verdict: Verdict) -> [Explanation.Binding] {
    let frame = evaluator.frames[verdict.depth]
    let names = verdict.rule.path.split(separator: "/").filter { $0.first == "$" }
    var bindings = zip(names, evaluator.captures).map {
      Explanation.Binding(name: String($0), text: JSONValue.string($1.string).text)
    }
    let auth = Self.text(evaluator.request.subject.auth)
    bindings.append(Explanation.Binding(name: "auth", text: auth))
    bindings.append(Explanation.Binding(name: "data", text: Self.text(frame.node.node)))
    if let newNode = frame.newNode {
      bindings.append(Explanation.Binding(name: "newData", text: Self.text(newNode.node)))
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
