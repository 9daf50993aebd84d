package import ArgumentParser

/// A command of a program, by its type.
package typealias CommandType = any ParsableCommand.Type

/// Which of the options that commands share each command uses; any other is refused.
///
/// An option that is accepted and ignored misleads: the command works on another database than the
/// user named, or as someone else.
package enum OptionUse {
  /// The options that say who the user is, and how to reach a database elsewhere.
  private static let person: Set<String> = ["user", "account", "api-key", "ca-file"]
  private static let elsewhere: Set<String> = ["database", "profile"]
  /// What commands about accounts elsewhere do not use.
  private static let signing: Set<String> = ["user", "socket", "ephemeral", "timeout"]
  private static let place: Set<String> = ["data-dir", "socket", "ephemeral"]

  /// What a script does not use: it plays on a blog of its own.
  private static let unusedInScript = person.union(elsewhere).union(place).union([
    "plain", "stars", "log", "log-level", "log-format", "log-size", "database-name", "list-themes",
    "print-config", "debug-info",
  ])

  /// The options without a use, by the name of the command.
  ///
  /// A test ensures that every command with common options is listed.
  static let unused: [String: Set<String>] = {
    var unused: [String: Set<String>] = [
      "open": ["json", "timeout"], "watch": ["timeout"],
      "sign-in": signing.union(["account"]), "sign-up": signing.union(["account"]),
      "reset-password": signing.union(["account"]), "sign-out": signing,
      "accounts": person.union(["socket", "ephemeral", "timeout"]),
      "import": [], "export": [], "fsck": [],
      "migrate": person.union(elsewhere).union(place).union(["timeout"]),
      "serve": person.union(elsewhere).union(["timeout"]), "stop": person.union(elsewhere),
      "doctor": ["user", "account", "api-key", "timeout"],
      "report": ["user", "account", "api-key", "timeout"],
      "info": ["account", "api-key", "ca-file", "timeout"],
      "databases move": person.union(elsewhere).union(place),
      "cluster": person.union(elsewhere).union(place).union(["timeout"]),
      "rules set": person.union(elsewhere).union(["ephemeral"]),
      "rules explain": person.union(elsewhere),
    ]
    for name in ["rebalance", "drain"] { unused["databases \(name)"] = unused["databases move"] }
    for name in ["delete", "rename"] {
      unused["databases \(name)"] = person.union(elsewhere).union(["socket", "ephemeral"])
    }
    for name in [
      "list", "search", "show", "post", "comment", "edit", "star", "unstar", "delete", "follow",
      "unfollow", "mute", "unmute", "block", "unblock", "bookmark", "unbookmark",
      "notices", "read", "unread", "people", "name", "get", "set",
    ] { unused[name] = [] }
    for name in ["list", "show", "delete"] {
      unused["drafts \(name)"] = ["socket", "ephemeral", "timeout", "api-key", "ca-file"]
    }
    for name in ["backup", "restore", "databases list", "databases create"] {
      unused[name] = person.union(elsewhere).union(["socket", "ephemeral", "timeout"])
    }
    for name in ["list", "add", "disable", "enable", "reset", "delete", "rotate-key"] {
      unused["users \(name)"] = person.union(elsewhere).union(["ephemeral"])
    }
    return unused
  }()

  /// Ensures that the command uses every option that was given.
  ///
  /// - Throws: ``CommandFailure`` that names the option and the reason.
  package static func check(_ words: [String], of program: CommandType) throws(CommandFailure) {
    let (type, name, _) = command(in: words, of: program)
    try requirePaths(in: words, of: type)
    let given = words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }
      .map { String($0.dropFirst(2).prefix { $0 != "=" }) }
    guard let unused = unused[name] else { return }
    for option in given {
      if unused.contains(option) {
        throw refusal(option, "has no use in \"hearth \(name)\"")
      }
      if let reason = conflict(of: option, with: Set(given), in: name) {
        throw refusal(option, reason)
      }
    }
  }

  private static func refusal(_ option: String, _ reason: String) -> CommandFailure {
    CommandFailure(.usage, "--\(option) \(reason)")
  }

  /// Why an option has no use beside others; nil if it has one.
  private static func conflict(
    of option: String,
    with given: Set<String>,
    in command: String
  ) -> String? {
    if command == "open", let reason = screenConflict(of: option, with: given) { return reason }
    let isElsewhere = !elsewhere.isDisjoint(with: given)
    switch option {
    case "account" where given.contains("user"): return "and --user both say who you are"
    case "account", "api-key", "ca-file":
      return isElsewhere ? nil : "is for a database elsewhere: add --database or --profile"
    case "socket", "ephemeral":
      if isElsewhere { return "is for a local database, but --database names one elsewhere" }
      if option == "socket", command == "export", !given.contains("ephemeral") {
        return "has no use for \"hearth export\", which reads the files; choose with --data-dir"
      }
    case "user", "timeout":
      if command == "export", !isElsewhere, !given.contains("ephemeral") {
        return "has no use for \"hearth export\", which reads the files"
      }
    case _: break
    }
    let usedBesideStore = ["serve": ["socket"], "import": ["timeout"]]
    guard given.contains("store"), !(usedBesideStore[command] ?? []).contains(option),
      person.union(["socket"]).contains(option)
        || option == "timeout" && !command.hasPrefix("databases ")
    else { return nil }
    return "has no use beside --store"
  }

  /// Why an option of the screen has no use beside others, or without them; nil if it has one.
  private static func screenConflict(of option: String, with given: Set<String>) -> String? {
    if given.contains("script"), unusedInScript.contains(option) {
      return "has no use beside --script, which plays on a blog of its own"
    }
    switch option {
    case "record" where given.contains("plain"):
      return "has no use beside --plain: only screens are recorded"
    case "record-limit" where !given.contains("record"): return "is for --record FILE"
    case "pace" where !given.contains("show"): return "is for --script FILE --show"
    case _: return nil
    }
  }

  /// What the values are called that are paths, although no shell completes them.
  private static let pathNames: Set<String> = ["file", "out.cast", "source", "target"]

  /// Ensures that no path, no store and no value behind an equals sign is empty.
  ///
  /// It is where a variable of the shell is not set, and would mean the working directory, or
  /// something else.
  private static func requirePaths(
    in words: [String],
    of command: CommandType
  ) throws(CommandFailure) {
    guard words.contains(where: { $0.isEmpty || $0.hasSuffix("=") }) else { return }
    let arguments = Declaration(command).arguments
    let paths = arguments.filter { $0.completesPath || pathNames.contains($0["valueName"]) }
    let (all, pathOptions) = (arguments.namesWithValues, paths.namesWithValues)
    let takesPath = paths.contains(where: \.isPositional)
    for (before, word) in zip([""] + words, words) {
      let option = word.isEmpty ? before : String(word.dropLast())
      guard word.isEmpty || word.hasSuffix("=") else { continue }
      if pathOptions.contains(option) {
        throw CommandFailure(.usage, "the path after \(option) is empty")
      }
      // It would mean the database that PostgreSQL takes for the user of the system.
      if option == "--store" { throw CommandFailure(.usage, "the URL after --store is empty") }
      // ArgumentParser has taken the next word for the value.
      if !word.isEmpty, all.contains(option) {
        throw CommandFailure(.usage, "the value after \(option) is empty")
      }
      if word.isEmpty, takesPath, !all.contains(before) {
        throw CommandFailure(.usage, "a path is empty")
      }
    }
  }

  /// The command that the words name, or its default subcommand, its full name and the words after
  /// those that name it.
  static func command(
    in words: [String],
    of program: CommandType
  ) -> (type: CommandType, name: String, rest: [String]) {
    var (type, names) = (program, [String]())
    for word in words.prefix(while: { !$0.hasPrefix("-") }) {
      guard let inner = type.configuration.subcommands.first(where: { $0._commandName == word })
      else { break }
      type = inner
      names.append(word)
    }
    let rest = Array(words.dropFirst(names.count))
    if let inner = type.configuration.defaultSubcommand {
      type = inner
      names.append(inner._commandName)
    }
    return (type, names.joined(separator: " "), rest)
  }
}
