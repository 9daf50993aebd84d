import BlogTUI
import DurableFiles
import Foundation
import RealtimeCore

/// The properties that terminals have reported, stored so that none is queried twice.
struct TerminalMemory {
  /// How many kinds of terminals are stored; when they are exceeded, the file starts over.
  private static let limit = 100

  private let path: String

  /// Names the file.
  init(directory: String) { path = "\(directory)/terminals.json" }

  /// Whether the terminal of this process joins emoji; nil if it has never been queried.
  var joinsEmoji: Bool? {
    guard case .bool(let joins)? = read()[TerminalAbilities.identity()] else { return nil }
    return joins
  }

  /// Stores an answer; if that fails, the terminal is queried again next time.
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
