import ArgumentParser
import BlogTUI
import Foundation

/// Messages about an unusable command line, in the style of all other failures.
enum UsageMessage {
  /// The longest usage, in characters, that is worth showing.
  private static let usageLimit = 80

  /// Reformats the parser's message like other messages, and suggests the command that was meant.
  ///
  /// The message may have several lines and is safe to show. The result is the reason, without
  /// capital letter and period, and where to find help.
  static func text(_ message: String, for words: [String], of root: CommandType) -> String {
    var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let first = lines.first, first.hasPrefix("Error: ") else { return message }
    let program = root._commandName
    let words = words.map { SafeText(untrusted: $0, mode: .singleLine).string }
    let wrong = wrongCommand(first, in: words, of: root)
    let unknown = wrong == nil ? unknownOption(in: words, of: root) : nil
    lines[0] = "\(program): " + (wrong ?? unknown ?? reason(String(first.dropFirst(7))))
    // The parser may have refused the word after an option that does not exist.
    if unknown != nil { lines.removeAll { $0.hasPrefix("Help: ") } }
    if let usage = lines.firstIndex(where: { $0.hasPrefix("Usage: ") }) {
      let ends = lines[usage...].firstIndex { $0.hasPrefix("  See ") } ?? lines.endIndex
      // Options that every command takes would fill the screen.
      if wrong != nil || lines[usage..<ends].reduce(0, { $0 + $1.count }) > usageLimit {
        lines.removeSubrange(usage..<ends)
      }
    }
    let path =
      wrong == nil ? nil : commandBefore(first, in: words, of: root)?.path.joined(separator: " ")
    lines = lines.map { line in
      guard line.hasPrefix("  See '"), let end = line.lastIndex(of: "'") else { return line }
      let command = line[line.index(line.startIndex, offsetBy: 7)..<end]
      let shown = command == "\(program) open --help" ? "\(program) --help" : String(command)
      return "See \"\(path.map { "\($0) --help" } ?? shown)\"."
    }
    return lines.joined(separator: "\n")
  }

  /// Reports that there is no such command, if the user asked for help about it.
  static func unknownHelp(_ words: [String], of root: CommandType) -> String? {
    guard words.first == "help", let name = words.dropFirst().first, !name.hasPrefix("-") else {
      return nil
    }
    let names = names(of: root)
    return names.contains(name) ? nil : missing(name, among: names, path: [root._commandName])
  }

  /// Reports the first option that the command does not have.
  private static func unknownOption(in words: [String], of root: CommandType) -> String? {
    let words = (try? LeadingOptions.moved(words, of: root)) ?? words
    let arguments = Declaration(OptionUse.command(in: words, of: root).type).arguments
    let known = arguments.flatMap(\.names) + ["--help", "--version"]
    let given = words.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }
      .map { String($0.prefix { $0 != "=" }) }
    guard let unknown = given.first(where: { !known.contains($0) }) else { return nil }
    let meant = Similarity.best(unknown, among: arguments.filter(\.isShown).flatMap(\.names))
    return "unknown option '\(unknown)'" + (meant.map { "; did you mean '\($0)'?" } ?? "")
  }

  private static func reason(_ text: String) -> String {
    let joined = text.replacing(". Did you mean ", with: "; did you mean ")
    let plain = joined.hasSuffix(".") ? String(joined.dropLast()) : joined
    // An option or a name keeps its capitalization.
    guard let letter = plain.first, letter.isUppercase, plain.dropFirst().first?.isUppercase != true
    else { return plain }
    return letter.lowercased() + plain.dropFirst()
  }

  /// Reports that there is no such command, if a command was expected at the word.
  private static func wrongCommand(
    _ text: String,
    in words: [String],
    of root: CommandType
  ) -> String? {
    guard let (word, command, path) = commandBefore(text, in: words, of: root) else { return nil }
    let names = names(of: command)
    return names.isEmpty ? nil : missing(word, among: names, path: path)
  }

  /// The first unexpected word, and the command in which it was found.
  private static func commandBefore(
    _ text: String,
    in words: [String],
    of root: CommandType
  ) -> (word: String, command: CommandType, path: [String])? {
    guard text.localizedCaseInsensitiveContains("unexpected argument"),
      let word = words.first(where: { text.contains("'\($0)'") })
    else { return nil }
    var command = root
    var path = [root._commandName]
    for name in words.prefix(while: { $0 != word }) {
      guard let inner = command.configuration.subcommands.first(where: { $0._commandName == name })
      else { continue }
      command = inner
      path.append(name)
    }
    return (word, command, path)
  }

  private static func names(of command: CommandType) -> [String] {
    command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
      .map { $0._commandName }
  }

  private static func missing(_ word: String, among names: [String], path: [String]) -> String {
    if word.hasPrefix("-"), word != "-" { return "unknown option '\(word)'" }
    let missing = "there is no command \"\(word)\""
    guard let meant = Similarity.best(word, among: names) else { return missing }
    return "\(missing); did you mean \"\((path + [meant]).joined(separator: " "))\"?"
  }
}

/// Guesses which name was meant by one that does not exist.
enum Similarity {
  /// The most similar name, which differs in few letters or begins with the typed one; nil if there
  /// is none.
  static func best(_ typed: String, among names: [String]) -> String? {
    let letters = Array(typed.lowercased().utf8.prefix(64))
    let ranked = names.map { ($0, distance(letters, Array($0.utf8))) }
    let limit = max(1, letters.count / 3)
    let close = ranked.filter { $0.1 <= limit }.min { ($0.1, $0.0) < ($1.1, $1.0) }
    return close?.0 ?? names.filter { letters.count > 1 && $0.hasPrefix(typed.lowercased()) }.min()
  }

  /// The edit distance: letters to change, add, omit or swap with their neighbours.
  ///
  /// - Complexity: O(n · m) in both lengths
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var next = [row + 1]
      for column in right.indices {
        let change = last[column] + (left[row] == right[column] ? 0 : 1)
        var best = min(change, last[column + 1] + 1, next[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, before[column - 1] + 1)
        }
        next.append(best)
      }
      before = last
      last = next
    }
    return last[right.count]
  }
}
