internal import RealtimeTree

/// One request on its way through the rules.
struct Inspection {
  private let rules: RuleSet
  private let isExplaining: Bool
  private let top: RuleScope
  private var budget = StepBudget()
  private var evaluations: [Explanation.Evaluation] = []

  init(_ rules: RuleSet, explaining: Bool, _ request: RuleRequest) {
    self.rules = rules
    isExplaining = explaining
    top = RuleScope(request)
  }

  /// A rule with its scope and result.
  private struct Verdict {
    let rule: Rule
    let scope: RuleScope
    let outcome: Explanation.Outcome

    var isSatisfied: Bool {
      if case .satisfied = outcome { true } else { false }
    }

    var evaluation: Explanation.Evaluation {
      Explanation.Evaluation(
        kind: rule.kind,
        rulePath: rule.path,
        location: Path(scope.keys),
        expression: rule.source,
        position: rule.position,
        outcome: outcome
      )
    }
  }

  private mutating func evaluate(_ rule: Rule, _ scope: RuleScope) -> Verdict {
    var evaluator = Evaluator(scope: scope, budget: budget)
    let outcome: Explanation.Outcome
    do throws(EvaluationError) {
      outcome = try evaluator.holds(rule.expression) ? .satisfied : .refused
    } catch {
      outcome = .failed(error.message, error.offset.map(rules.map.position))
    }
    budget = evaluator.budget
    let verdict = Verdict(rule: rule, scope: scope, outcome: outcome)
    if isExplaining, evaluations.count < RulesLimits.listedEvaluations {
      evaluations.append(verdict.evaluation)
    }
    return verdict
  }

  private func decision(_ isAllowed: Bool, by verdict: Verdict?) -> Decision {
    Decision(
      isAllowed: isAllowed,
      isLasting: isAllowed && verdict?.rule.isLasting == true,
      explanation: Explanation(
        decisive: isAllowed && !isExplaining ? nil : verdict?.evaluation,
        bindings: isExplaining ? verdict.map(bindings) ?? [] : [],
        evaluations: evaluations
      )
    )
  }

  // MARK: Reading

  mutating func read(_ path: Path) -> Decision {
    var last: Verdict?
    for step in steps(to: path) {
      guard let rule = step.node.read else { continue }
      let verdict = evaluate(rule, step.scope)
      if verdict.isSatisfied { return decision(true, by: verdict) }
      last = verdict
    }
    return decision(false, by: last)
  }

  /// The rules from the root down to a location, as far as there are any.
  private func steps(to path: Path) -> [(node: RuleNode, scope: RuleScope)] {
    var steps = [(node: rules.top, scope: top)]
    var (node, scope) = (rules.top, top)
    for key in path.keys where key != .priority {
      guard let child = node.child(key) else { break }
      node = child.node
      scope = scope.child(key, isCaptured: child.isCaptured)
      steps.append((node, scope))
    }
    return steps
  }

  // MARK: Writing

  mutating func write(_ paths: [Path]) -> Decision {
    var granting: Verdict?
    for path in paths {
      let steps = steps(to: path)
      var (isGranted, last) = (false, Verdict?.none)
      for step in steps {
        guard !isGranted, let rule = step.node.write else { continue }
        let verdict = evaluate(rule, step.scope)
        isGranted = verdict.isSatisfied
        last = verdict
      }
      guard isGranted else { return decision(false, by: last) }
      granting = last
      for step in steps {
        if let refusal = refusal(of: step.node, step.scope) { return decision(false, by: refusal) }
      }
      let depth = path.isPriority ? path.count - 1 : path.count
      if steps.count == depth + 1, let step = steps.last,
        let refusal = refusal(below: step.node, step.scope)
      {
        return decision(false, by: refusal)
      }
    }
    // A request that changes nothing needs no permission.
    return decision(true, by: granting)
  }

  /// The `.validate` of a location when it is in the way; where there are no new data it is not asked.
  private mutating func refusal(of node: RuleNode, _ scope: RuleScope) -> Verdict? {
    guard let rule = node.validate, scope.newNode?.isEmpty == false else { return nil }
    let verdict = evaluate(rule, scope)
    return verdict.isSatisfied ? nil : verdict
  }

  /// The first `.validate` in the way below a location; only where rules exist are data visited.
  private mutating func refusal(below node: RuleNode, _ scope: RuleScope) -> Verdict? {
    guard node.hasValidationBelow, let data = scope.newNode, data.childCount > 0 else { return nil }
    let asksAllChildren = node.wildcard.map {
      $0.node.validate != nil || $0.node.hasValidationBelow
    }
    if asksAllChildren == true || data.childCount < node.literals.count {
      var refusal: Verdict?
      data.forEachChild { key, value in
        guard let child = node.child(key) else { return true }
        let below = scope.child(key, becoming: value, isCaptured: child.isCaptured)
        refusal = self.refusal(at: child.node, below)
        return refusal == nil
      }
      return refusal
    }
    for (key, child) in node.literals {
      let value = data.child(key)
      guard !value.isEmpty else { continue }
      let below = scope.child(key, becoming: value, isCaptured: false)
      if let refusal = refusal(at: child, below) { return refusal }
    }
    return nil
  }

  /// The first `.validate` in the way at a location or below.
  private mutating func refusal(at node: RuleNode, _ scope: RuleScope) -> Verdict? {
    if let refusal = refusal(of: node, scope) ?? refusal(below: node, scope) { return refusal }
    do throws(EvaluationError) {
      try budget.spend(1)
    } catch {
      return exhausted(node, scope, error)
    }
    return nil
  }

  /// The refusal of a request that visits more data than it may.
  private func exhausted(
    _ node: RuleNode,
    _ scope: RuleScope,
    _ error: EvaluationError
  ) -> Verdict {
    let rule =
      node.validate
      ?? Rule(
        kind: .validate,
        path: Path(scope.keys).description,
        source: "",
        position: SourcePosition(line: 1, column: 1),
        expression: .literal(.bool(false))
      )
    return Verdict(rule: rule, scope: scope, outcome: .failed(error.message, nil))
  }

  // MARK: Explaining

  /// What the names in a rule stood for.
  private func bindings(_ verdict: Verdict) -> [Explanation.Binding] {
    let scope = verdict.scope
    let names = verdict.rule.path.split(separator: "/").filter { $0.first == "$" }
    var bindings = zip(names, scope.captures).map {
      Explanation.Binding(name: String($0), text: JSONValue.string($1.text).text)
    }
    bindings.append(Explanation.Binding(name: "auth", text: Self.text(scope.request.auth)))
    bindings.append(Explanation.Binding(name: "data", text: Self.text(scope.node.node)))
    if let newNode = scope.newNode {
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
    case .map(let json): shortened(json.text)
    case .object, .snapshot: value.kind
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
