import ArgumentParser
import RealtimeCore

/// Options that stand before the command that they belong to, as in `hearth --data-dir D serve`.
///
/// What stands before a command would be taken for options of `hearth` itself, which opens the blog.
enum LeadingOptions {
  /// A command, as the command line declares it.
  private struct Command {
    let json: JSONValue

    var name: String { json["commandName"]?.string ?? "" }
    var subcommands: [Command] { (json["subcommands"]?.elements ?? []).map(Command.init) }

    func subcommand(_ name: String) -> Command? { subcommands.first { $0.name == name } }

    /// Whether an option takes a value, by its name; those of the default subcommand are among them.
    var options: [String: Bool] {
      var options: [String: Bool] = [:]
      for argument in json["arguments"]?.elements ?? [] {
        for name in argument["names"]?.elements ?? [] where name["kind"]?.string == "long" {
          guard let text = name["name"]?.string else { continue }
          options[text] = argument["kind"]?.string == "option"
        }
      }
      let inner = json["defaultSubcommand"]?.string.flatMap(subcommand)
      return options.merging(inner?.options ?? [:]) { own, _ in own }
    }

    /// This command and all below it, with the names that lead to them.
    func all(_ prefix: String) -> [(path: String, command: Command)] {
      subcommands.flatMap { [("\(prefix) \($0.name)", $0)] + $0.all("\(prefix) \($0.name)") }
    }
  }

  /// Puts the options before a command behind its name.
  ///
  /// - Parameters:
  ///   - arguments: The words after the name of the program.
  ///   - program: The program whose commands these are.
  /// - Returns: The same words, in an order in which they mean what they seem to.
  /// - Throws: ``CommandFailure`` for an option that the command does not have, but others do.
  static func moved<Program: ParsableCommand>(
    _ arguments: [String],
    of program: Program.Type
  ) throws(CommandFailure) -> [String] {
    let names = Set(program.configuration.subcommands.map { $0._commandName })
    guard arguments.first?.hasPrefix("--") == true, arguments.contains(where: names.contains),
      let json = (try? JSONParser.parse(Array(program._dumpHelp().utf8)))?["command"]
    else { return arguments }
    let root = Command(json: json)
    let all = root.all(root.name)
    let known = all.reduce(into: root.options) { $0.merge($1.command.options) { old, _ in old } }
    var options: [String] = []
    var start = 0
    while start < arguments.count, arguments[start].hasPrefix("--") {
      let word = arguments[start]
      let name = String(word.dropFirst(2).prefix { $0 != "=" })
      // What is unknown, or asks for help, is the parser's.
      guard let takesValue = known[name], name != "help", name != "version" else {
        return arguments
      }
      options.append(name)
      start += takesValue && !word.contains("=") ? 2 : 1
    }
    guard start < arguments.count, var command = root.subcommand(arguments[start]) else {
      return arguments
    }
    var end = start + 1
    while end < arguments.count, let inner = command.subcommand(arguments[end]) {
      command = inner
      end += 1
    }
    let own = command.options
    if let stranger = options.first(where: { own[$0] == nil }) {
      let path = ([root.name] + arguments[start..<end]).joined(separator: " ")
      let owners = all.filter { $0.command.options[stranger] != nil }.map { "\"\($0.path)\"" }
      throw CommandFailure(
        .usage,
        "--\(stranger) is no option of \"\(path)\", but of \(owners.joined(separator: ", "))"
      )
    }
    return Array(arguments[start..<end] + arguments[..<start] + arguments[end...])
  }
}
