import ArgumentParser
import RealtimeCore

/// A command or an argument, as the command line declares it.
struct Declaration {
  private let json: JSONValue?

  /// Prepares a command and those within it, which takes long.
  init(_ command: CommandType) {
    json = (try? JSONParser.parse(command._dumpHelp()))?["command"]
  }

  private init(json: JSONValue) { self.json = json }

  /// What a member says; nothing if it is missing.
  subscript(member: String) -> String { json?[member]?.string ?? "" }

  private func list(_ member: String) -> [Declaration] {
    (json?[member]?.elements ?? []).map(Declaration.init)
  }

  var isShown: Bool { json?["shouldDisplay"]?.bool != false }
  var name: String { self["commandName"] }
  var arguments: [Declaration] { list("arguments") }
  var subcommands: [Declaration] { list("subcommands") }

  func subcommand(_ name: String) -> Declaration? { subcommands.first { $0.name == name } }

  /// The long names of an argument, such as `--user`.
  var names: [String] { list("names").filter { $0["kind"] == "long" }.map { "--\($0["name"])" } }

  /// Whether an argument is an option that takes a value.
  var takesValue: Bool { self["kind"] == "option" }
  var isFlag: Bool { self["kind"] == "flag" }
  var isPositional: Bool { self["kind"] == "positional" }

  /// Whether a shell completes the value with a path.
  var completesPath: Bool {
    let completion = json?["completionKind"]
    return completion?["file"] != nil || completion?["directory"] != nil
  }
}

extension Sequence<Declaration> {
  /// The long names of the options among these arguments that take a value.
  var namesWithValues: Set<String> { Set(filter(\.takesValue).flatMap(\.names)) }
}
