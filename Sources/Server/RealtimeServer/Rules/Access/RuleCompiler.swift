internal import RealtimeCore

/// Compiles a parsed document.
struct RuleCompiler {
  private let map: SourceMap

  static func compile(
    _ document: DocumentValue,
    map: SourceMap
  ) throws(RuleProblem) -> RuleNode {
    guard case .object(let members) = document.content else {
      throw RuleProblem(
        "expected an object with the one member \"rules\", found \(document.kind)",
        at: document.offset
      )
    }
    for member in members where member.name.text != "rules" {
      throw RuleProblem(
        "unknown member \"\(member.name.text)\"; the document has one member, \"rules\"",
        at: member.name.start
      )
    }
    guard let rules = members.first else {
      throw RuleProblem("the member \"rules\" is missing", at: document.offset)
    }
    return try RuleCompiler(map: map).node(rules.value, path: [], wildcards: [])
  }

  private func node(
    _ value: DocumentValue,
    path: [String],
    wildcards: [String]
  ) throws(RuleProblem) -> RuleNode {
    guard case .object(let members) = value.content else {
      throw RuleProblem(
        "expected an object with rules and children, found \(value.kind)",
        at: value.offset
      )
    }
    var sources: [RuleKind: (text: String, position: SourcePosition, expression: Expression)] = [:]
    var indexes: [Index] = []
    var literals: [ChildKey: RuleNode] = [:]
    var wildcard: (name: String, node: RuleNode)?
    for member in members {
      let name = member.name.text
      let location = path + [name]
      if name == ".indexOn" {
        indexes = try self.indexes(member.value)
      } else if name.unicodeScalars.first == "." {
        guard let kind = RuleKind(rawValue: name) else {
          throw RuleProblem(
            "unknown member \"\(name)\"; expected .read, .write, .validate or .indexOn",
            at: member.name.start
          )
        }
        let (text, expression) = try source(of: kind, value: member.value, wildcards: wildcards)
        sources[kind] = (text, map.position(of: member.value.offset), expression)
      } else if name.unicodeScalars.first == "$" {
        try check(wildcard: member.name, sibling: wildcard?.name, outer: wildcards)
        let node = try node(member.value, path: location, wildcards: wildcards + [name])
        wildcard = (name, node)
      } else {
        if let problem = Validation.problem(withKey: name) {
          throw RuleProblem(problem, at: member.name.start)
        }
        literals[ChildKey(name)] = try node(member.value, path: location, wildcards: wildcards)
      }
    }
    var asked = Set(literals.keys.map(\.text))
    for source in sources.values {
      asked.formUnion(ExpressionCompiler.names(in: source.expression, at: path))
    }
    let names = RuleNames(asked)
    func rule(_ kind: RuleKind) -> Rule? {
      sources[kind].map {
        Rule(
          kind: kind,
          path: path,
          source: $0.text,
          position: $0.position,
          expression: $0.expression,
          names: names
        )
      }
    }
    return RuleNode(
      read: rule(.read),
      write: rule(.write),
      validate: rule(.validate),
      indexes: indexes,
      literals: literals,
      wildcard: wildcard,
      names: names
    )
  }

  private func check(
    wildcard name: DocumentText,
    sibling: String?,
    outer wildcards: [String]
  ) throws(RuleProblem) {
    guard name.scalars.count > 1, name.scalars.dropFirst().allSatisfy(Lexer.isNamePart),
      !name.scalars.dropFirst().contains("$")
    else {
      throw RuleProblem(
        "a wildcard is '$' and a name of letters, digits and '_'; this is \"\(name.text)\"",
        at: name.start
      )
    }
    if let sibling {
      throw RuleProblem(
        "a location has one wildcard at the most; \"\(sibling)\" is here already",
        at: name.start
      )
    }
    if wildcards.contains(name.text) {
      throw RuleProblem(
        "the wildcard \"\(name.text)\" is used already further up on this path",
        at: name.start
      )
    }
  }

  private func source(
    of kind: RuleKind,
    value: DocumentValue,
    wildcards: [String]
  ) throws(RuleProblem) -> (text: String, expression: Expression) {
    switch value.content {
    case .bool(let constant): return (String(constant), .literal(.bool(constant)))
    case .string(let text):
      let checker = Checker(kind: kind, wildcards: wildcards)
      return (text.text, try checker.rule(Parser.parse(text)))
    case .array, .object, .null, .number:
      throw RuleProblem(
        "\(kind.rawValue) must be an expression in a string, true or false, not \(value.kind)",
        at: value.offset
      )
    }
  }

  private func indexes(_ value: DocumentValue) throws(RuleProblem) -> [Index] {
    switch value.content {
    case .string(let text): return [try index(text)]
    case .array(let elements):
      return try elements.map { (element) throws(RuleProblem) in
        guard case .string(let text) = element.content else {
          throw RuleProblem("an index must be a string, not \(element.kind)", at: element.offset)
        }
        return try index(text)
      }
    case .bool, .object, .null, .number:
      throw RuleProblem(
        ".indexOn must be a string or an array of strings, not \(value.kind)",
        at: value.offset
      )
    }
  }

  private func index(_ text: DocumentText) throws(RuleProblem) -> Index {
    if text.text == ".value" { return .value }
    let path = Path(wire: text.text)
    if path.isRoot || [".key", "$key", "$value", ".priority", "$priority"].contains(text.text) {
      let reason = "an index is the path of a child, or .value; keys and priorities need none"
      throw RuleProblem(reason, at: text.start)
    }
    if let problem = Validation.problem(withPath: path) {
      throw RuleProblem(problem, at: text.start)
    }
    return .child(path)
  }
}
