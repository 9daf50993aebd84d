/// Words of the command line that start with a dash and are no options, such as the ids of posts.
///
/// All options of this program have long names (`--user`), so a single dash starts a value; only `-h`
/// is kept for help. ArgumentParser would take it for an option, so such words are marked before it
/// sees them, and the mark is taken off where they are used.
enum DashedWord {
  /// A control character, which no one types before a dash.
  private static let mark: Character = "\u{1}"

  /// Marks the words of a command line that only look like options.
  static func protect(_ arguments: [String]) -> [String] {
    guard let end = arguments.firstIndex(of: "--") else { return arguments.map(protect) }
    return arguments[..<end].map(protect) + arguments[end...]
  }

  private static func protect(_ word: String) -> String {
    let isValue = word.hasPrefix("-") && !word.hasPrefix("--") && word != "-h"
    return isValue ? "\(mark)\(word)" : word
  }

  /// The word as it was typed.
  @Sendable static func restore(_ word: String) -> String {
    word.hasPrefix("\(mark)-") ? String(word.dropFirst()) : word
  }
}
