/// A wish of a configuration file: in that place, these keys do that.
package struct KeyOverride: Hashable, Sendable, Codable {
  /// The name of the place, or nil for every place where the action makes sense.
  package let context: String?
  /// The names of the keys, such as `g g`.
  package let keys: String
  /// The name of the action, or `none`.
  package let action: String
  /// The line of the file, counted from 1.
  package let line: Int

  /// Makes a wish.
  package init(context: String?, keys: String, action: String, line: Int) {
    self.context = context
    self.keys = keys
    self.action = action
    self.line = line
  }
}

extension KeyMap where Meaning == Action, Mode == Context {
  /// The word of a configuration file that takes keys away.
  package static let noAction = "none"

  /// All actions that have a name, each once, in the order of the table.
  package var actions: [Action] {
    var seen: Set<Action> = []
    return bindings.map(\.action).filter { seen.insert($0).inserted }
  }

  /// The action of that name.
  package func action(named name: String) -> Action? {
    actions.first { $0.name == name }
  }

  /// The places in which the action makes sense.
  package func contexts(of action: Action) -> Set<Context> {
    bindings.filter { $0.action == action }.reduce(into: []) { $0.formUnion($1.contexts) }
  }

  /// The table as a configuration file wants it; wishes that cannot be fulfilled are left out.
  ///
  /// - Parameters:
  ///   - overrides: The wishes, in the order of the file.
  ///   - source: The name of the file.
  ///   - problems: Gets what is wrong with the wishes.
  /// - Returns: The new table.
  package func applying(
    _ overrides: [KeyOverride],
    source: String,
    problems: inout [ConfigurationProblem]
  ) -> KeyTable {
    var table = self
    var chosen: [Context: [KeySequence: KeyOverride]] = [:]
    for wish in overrides {
      func complain(_ reason: String) {
        problems.append(ConfigurationProblem(source: source, line: wish.line, reason: reason))
      }
      switch resolve(wish) {
      case .failure(let problem):
        complain(problem.reason)
      case .success(let resolved):
        for context in Self.order(resolved.contexts) {
          let earlier = chosen[context, default: [:]].first {
            $0.key.overlaps(resolved.sequence)
          }
          if let earlier {
            let place = "in \(context.name)"
            complain(
              "\"\(wish.keys)\" \(place) collides with \"\(earlier.value.keys)\" of line "
                + "\(earlier.value.line); this line has no effect there"
            )
            continue
          }
          chosen[context, default: [:]][resolved.sequence] = wish
          table = table.binding(resolved.sequence, to: resolved.action, in: context)
        }
      }
    }
    return table
  }

  private struct Resolved {
    let sequence: KeySequence
    let action: Action?
    let contexts: Set<Context>
  }

  private struct Refusal: Error {
    let reason: String
  }

  private func resolve(_ wish: KeyOverride) -> Result<Resolved, Refusal> {
    guard let sequence = KeySequence(description: wish.keys) else {
      return .failure(Refusal(reason: Self.problem(withKeys: wish.keys)))
    }
    guard !sequence.contains(.control("z")) else {
      return .failure(Refusal(reason: "^Z always suspends and cannot be given another meaning"))
    }
    var places: Set<Context> = Set(Context.allCases)
    if let name = wish.context {
      guard let context = Context.allCases.first(where: { $0.name == name }) else {
        let names = Context.allCases.map(\.name).joined(separator: ", ")
        return .failure(Refusal(reason: "there is no place \"\(name)\"; there are \(names)"))
      }
      places = [context]
    }
    if wish.action == Self.noAction {
      return .success(Resolved(sequence: sequence, action: nil, contexts: places))
    }
    guard let action = action(named: wish.action) else {
      let hint = closest(to: wish.action).map { "; \"\($0)\" exists" } ?? ""
      return .failure(Refusal(reason: "there is no action \"\(wish.action)\"\(hint)"))
    }
    let possible = contexts(of: action).intersection(places)
    guard !possible.isEmpty else {
      let all = Self.order(contexts(of: action)).map(\.name).joined(separator: ", ")
      return .failure(Refusal(reason: "\"\(wish.action)\" has a meaning only in \(all)"))
    }
    let typing = possible.filter(\.isTyping)
    guard case .character? = sequence.keys.first, !typing.isEmpty else {
      return .success(Resolved(sequence: sequence, action: action, contexts: possible))
    }
    guard wish.context == nil, possible != typing else {
      return .failure(Refusal(reason: "\"\(wish.keys)\" could no longer be typed there"))
    }
    let others = possible.subtracting(typing)
    return .success(Resolved(sequence: sequence, action: action, contexts: others))
  }

  /// What is wrong with the names of keys.
  private static func problem(withKeys keys: String) -> String {
    let names = keys.split(separator: " ")
    if names.count > KeySequence.longest {
      return "\"\(keys)\" has \(names.count) keys; a sequence has at most \(KeySequence.longest)"
    }
    let unknown = names.first { KeyEvent(description: String($0)) == nil }.map(String.init)
    return "\"\(unknown ?? keys)\" is no key; write keys as :keys shows them"
  }

  private func closest(to name: String) -> String? {
    actions.map(\.name).compactMap { candidate in
      FuzzyMatch(name, in: candidate).map { (candidate, $0.score) }
    }.max { $0.1 < $1.1 }?.0
  }

  private static func order(_ contexts: Set<Context>) -> [Context] {
    Context.allCases.filter(contexts.contains)
  }

  /// The table in which the keys mean that and nothing else in the context.
  private func binding(_ sequence: KeySequence, to action: Action?, in context: Context) -> KeyTable
  {
    var rows: [KeyBinding<Action, Context>] = []
    var isAdded = false
    for row in bindings {
      guard row.contexts.contains(context) else {
        rows.append(row)
        continue
      }
      let kept = row.keys.filter { !$0.overlaps(sequence) }
      let gains = row.action == action && !isAdded
      guard gains || kept.count < row.keys.count else {
        rows.append(row)
        continue
      }
      isAdded = isAdded || gains
      let others = row.contexts.subtracting([context])
      if !others.isEmpty {
        rows.append(KeyBinding(row.keys, row.action, in: others, help: row.help))
      }
      let keys = gains ? [sequence] + kept : kept
      rows.append(KeyBinding(keys, row.action, in: [context], help: row.help))
    }
    return KeyTable(rows)
  }
}
