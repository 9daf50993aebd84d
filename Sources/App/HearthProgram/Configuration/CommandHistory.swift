import DurableFiles
import Foundation

/// The commands that were typed, kept from one run to the next.
struct CommandHistory {
  private let path: String

  /// Names the file.
  init(directory: String) {
    path = "\(directory)/history"
  }

  /// The commands, oldest first.
  func load() -> [String] {
    guard let data = FileManager.default.contents(atPath: path) else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(200)
      .map(String.init)
  }

  /// Replaces the file; a history that cannot be kept is no reason to say anything.
  func save(_ lines: [String]) {
    let text = lines.map { $0.replacing("\n", with: " ") + "\n" }.joined()
    try? PrivateFile.replace(path, with: Array(text.utf8), isDurable: false)
  }
}
