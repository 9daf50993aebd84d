extension KeyTable {
  /// The action name that removes a binding in configuration files.
  package static let noAction = "none"

  /// All actions, each once, in the order of the table.
  package var actions: [Action] {
    var seen: Set<Action> = []
    return bindings.map(\.action).filter { seen.insert($0).inserted }
  }

  package func action(named name: String) -> Action? {
    actions.first { $0.name == name }
  }

  package func contexts(of action: Action) -> Set<Context> {
    bindings.filter { $0.action == action }.reduce(into: []) { $0.formUnion($1.contexts) }
  }

  /// The table after applying the key bindings of a configuration file; invalid ones are skipped.
  package func applying(
    _ overrides: [KeyOverride],
    source: String,
    problems: inout [ConfigurationProblem]
  ) -> KeyTable {
    var table = self
    var chosen: [Context: [KeySequence: KeyOverride]] = [:]
    for rebinding in overrides {
      func complain(_ reason: String) {
        problems.append(ConfigurationProblem(source: source, line: rebinding.line, reason: reason))
      }
      do throws(SettingProblem) {
        let (sequence, action, contexts) = try resolve(rebinding)
        for context in Self.order(contexts) {
          let earlier = chosen[context, default: [:]].first { $0.key.overlaps(sequence) }
          if let earlier {
            let location = "in \(context.name)"
            complain(
              "\"\(rebinding.keys)\" \(location) collides with \"\(earlier.value.keys)\" of line "
                + "\(earlier.value.line); this line has no effect there"
            )
            continue
          }
          chosen[context, default: [:]][sequence] = rebinding
          table = table.binding(sequence, to: action, in: context)
        }
      } catch {
        complain(error.reason)
      }
    }
    return table
  }

  /// The keys of a binding, its action, and the contexts in which they get it.
  private func resolve(
    _ rebinding: KeyOverride
  ) throws(SettingProblem) -> (KeySequence, Action?, Set<Context>) {
    guard let sequence = KeySequence(description: rebinding.keys) else {
      throw SettingProblem(reason: Self.problem(withKeys: rebinding.keys))
    }
    guard !sequence.keys.contains(.control("z")) else {
      throw SettingProblem(reason: "^Z always suspends and cannot be given another meaning")
    }
    var allowed: Set<Context> = Set(Context.allCases)
    if let name = rebinding.context {
      guard let context = Context.allCases.first(where: { $0.name == name }) else {
        let names = Context.allCases.map(\.name).joined(separator: ", ")
        throw SettingProblem(reason: "there is no place \"\(name)\"; there are \(names)")
      }
      allowed = [context]
    }
    if rebinding.action == Self.noAction { return (sequence, nil, allowed) }
    guard let action = action(named: rebinding.action) else {
      let similar = FuzzyMatch.closest(to: rebinding.action, among: actions.map(\.name))
      let hint = similar.map { "; \"\($0)\" exists" } ?? ""
      throw SettingProblem(reason: "there is no action \"\(rebinding.action)\"\(hint)")
    }
    let possible = contexts(of: action).intersection(allowed)
    guard !possible.isEmpty else {
      let all = Self.order(contexts(of: action)).map(\.name).joined(separator: ", ")
      throw SettingProblem(reason: "\"\(rebinding.action)\" works only in \(all)")
    }
    let typing = possible.filter(\.isTyping)
    guard case .character? = sequence.keys.first, !typing.isEmpty else {
      return (sequence, action, possible)
    }
    guard rebinding.context == nil, possible != typing else {
      throw SettingProblem(reason: "\"\(rebinding.keys)\" could no longer be typed there")
    }
    return (sequence, action, possible.subtracting(typing))
  }

  /// The reason why these key names are invalid.
  private static func problem(withKeys keys: String) -> String {
    let names = keys.split(separator: " ")
    if names.count > KeySequence.longest {
      return "\"\(keys)\" has \(names.count) keys; a sequence has at most \(KeySequence.longest)"
    }
    let unknown = names.first { KeyEvent(description: String($0)) == nil }.map(String.init)
    return "\"\(unknown ?? keys)\" is not a key; write keys as :keys shows them"
  }

  private static func order(_ contexts: Set<Context>) -> [Context] {
    Context.allCases.filter(contexts.contains)
  }

  /// The table in which the keys are bound only to this action in the context.
  private func binding(_ sequence: KeySequence, to action: Action?, in context: Context) -> KeyTable
  {
    var rows: [KeyBinding] = []
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
      func add(_ keys: [KeySequence], in contexts: Set<Context>) {
        rows.append(KeyBinding(keys: keys, action: row.action, contexts: contexts, help: row.help))
      }
      let others = row.contexts.subtracting([context])
      if !others.isEmpty { add(row.keys, in: others) }
      add(gains ? [sequence] + kept : kept, in: [context])
    }
    return KeyTable(rows)
  }
}
