internal import BlogModel

/// A shell command of the user's own for the selected post, from the table `[commands]`.
package struct OwnCommand: Hashable, Sendable {
  package enum Output: String, CaseIterable, Sendable, Codable {
    /// A page shows it, if there is any.
    case page
    /// The command has the terminal until it ends.
    case terminal
    /// Nobody sees it.
    case none
  }

  /// The largest number of commands.
  static let limit = 100
  /// The number of letters of the longest name.
  static let nameLimit = 40

  /// The name, which can be typed like that of an action.
  package let name: String
  package internal(set) var shell = ""
  package internal(set) var keys: KeyOverride?
  package internal(set) var output = Output.page
  /// The line of the file on which it begins.
  package internal(set) var line: Int?
}

extension OwnCommand: Codable {
  // What the shell runs may contain secrets, and recordings are passed on.
  private enum CodingKeys: CodingKey {
    case name, keys, output, line
  }
}

/// Collects the commands of a file from their lines.
struct OwnCommandReader {
  private var commands: [OwnCommand] = []
  private(set) var faults: [TOMLDocument.Fault] = []
  /// The commands without anything to run that have been reported already.
  private var explained: Set<String> = []

  var complete: [OwnCommand] { commands.filter { !$0.shell.isBlank } }

  /// Reads a line of `[commands]` or `[commands.NAME]`.
  mutating func read(_ entry: TOMLDocument.Entry) {
    if entry.table.count == 1 {
      set("run", of: entry.key, to: entry)
    } else {
      set(entry.key, of: entry.table[1], to: entry)
    }
  }

  private mutating func set(_ field: String, of name: String, to entry: TOMLDocument.Entry) {
    func complain(_ reason: String) { faults.append(.init(line: entry.line, reason: reason)) }
    guard let index = index(of: name, line: entry.line) else { return }
    guard let value = entry.value else {
      if field == "run" { explained.insert(name) }
      return complain("\"\(entry.key)\" needs a text in quotes")
    }
    switch field {
    case "run":
      if value.isBlank {
        explained.insert(name)
        return complain("the command \"\(name)\" is empty")
      }
      commands[index].shell = value
    case "key":
      commands[index].keys = KeyOverride(
        context: nil,
        keys: value,
        action: name,
        line: entry.line ?? 1
      )
    case "output":
      guard let output = OwnCommand.Output(rawValue: value) else {
        let all = OwnCommand.Output.allCases.map(\.rawValue).joined(separator: ", ")
        return complain("output is one of \(all), not \"\(value)\"")
      }
      commands[index].output = output
    default:
      complain("a command has no \"\(field)\"; there are run, key and output")
    }
  }

  /// The index of a command, which is made if its name is allowed.
  private mutating func index(of name: String, line: Int?) -> Int? {
    if let index = commands.firstIndex(where: { $0.name == name }) { return index }
    let isName =
      name.count <= OwnCommand.nameLimit && name.first?.isLetter == true
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    guard isName, commands.count < OwnCommand.limit else {
      let reason =
        isName
        ? "there are more than \(OwnCommand.limit) commands"
        : "\"\(name)\" cannot name a command: use letters, digits and dashes"
      faults.append(.init(line: line, reason: reason))
      return nil
    }
    commands.append(OwnCommand(name: name, line: line))
    return commands.count - 1
  }

  /// Ends reading: a command without anything to run is a fault.
  mutating func finish() {
    for command in commands where command.shell.isEmpty && !explained.contains(command.name) {
      let reason = "the command \"\(command.name)\" needs a line such as: run = \"wc -w\""
      faults.append(.init(line: command.line, reason: reason))
    }
  }
}
