import BlogTUI
import DurableFiles
import Foundation
import RealtimeCore

/// What terminals have answered about themselves, kept so that none is asked twice.
struct TerminalMemory {
  /// How many kinds of terminals are kept; the file of somebody who changes often is begun anew.
  private static let limit = 100

  private let path: String

  /// Names the file.
  init(directory: String) { path = "\(directory)/terminals.json" }

  /// Whether the terminal of this process joins emoji; nil if it was never asked.
  var joinsEmoji: Bool? {
    guard case .bool(let joins)? = read()[TerminalAbilities.identity()] else { return nil }
    return joins
  }

  /// Keeps an answer; one that cannot be kept is asked for again.
  func keep(joinsEmoji: Bool) {
    var known = read()
    if known.count >= Self.limit { known = [:] }
    known[TerminalAbilities.identity()] = .bool(joinsEmoji)
    let members = known.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    let text = JSONValue.object(members).text + "\n"
    try? PrivateFile.replace(path, with: Array(text.utf8), isDurable: false)
  }

  private func read() -> [String: JSONValue] {
    guard let data = FileManager.default.contents(atPath: path),
      case .object(let members)? = try? JSONParser.parse(Array(data))
    else { return [:] }
    return Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
  }
}
