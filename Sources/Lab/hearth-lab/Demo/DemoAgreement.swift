/// Whether several terminals show the same list of posts, as far as each of them has room for it.
struct DemoAgreement: Hashable, Sendable {
  /// A post as a line of a list shows it: the beginning of its title, and its stars.
  private struct Row: Hashable {
    let title: Substring
    let stars: Substring
  }

  /// The part of a title that every width has room for.
  private static let titleLength = 8

  /// How many terminals show a list at the moment.
  let count: Int
  /// How many of them show what most of them show.
  let equal: Int

  /// Compares what stands on some screens, a line a row; one that shows no list is left out.
  ///
  /// - Complexity: O(screens² · lines)
  init(_ screens: [String]) {
    let lists = screens.map(Self.rows).filter { !$0.isEmpty }
    count = lists.count
    equal = lists.map { list in lists.count { Self.agree(list, $0) } }.max() ?? 0
  }

  /// Whether there are several, and all show the same.
  var isWhole: Bool { count > 1 && equal == count }

  /// What the live pane says.
  var text: String {
    switch count {
    case 0, 1: "at work"
    default: isWhole ? "all \(count) show the same" : "\(equal) of \(count) show the same"
    }
  }

  private static func agree(_ left: [Row], _ right: [Row]) -> Bool {
    let common = min(left.count, right.count)
    return left.prefix(common) == right.prefix(common)
  }

  /// The lines that end with a star and a number, with or without the mark of the selected one.
  private static func rows(of screen: String) -> [Row] {
    screen.split(separator: "\n").compactMap { line in
      guard let match = line.firstMatch(of: #/^[^\p{L}\p{N}]*(\S.*?) +[★☆*+-] +(\d+)\s*$/#) else {
        return nil
      }
      return Row(title: match.1.prefix(titleLength), stars: match.2)
    }
  }
}
