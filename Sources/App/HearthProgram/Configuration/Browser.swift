import BlogTUI
import Foundation

/// The program that opens links: one of `BROWSER`, else the desktop's.
enum Browser {
  /// Opens a link of the web; nothing else is ever opened, and no shell sees it.
  static func open(
    _ link: String,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Result<Void, EnvironmentError> {
    guard link.hasPrefix("https://") || link.hasPrefix("http://") else {
      return .failure(EnvironmentError("Only links of the web are opened."))
    }
    let named = (environment["BROWSER"] ?? "").split(separator: ":").map(String.init)
    for command in named + ["xdg-open"] {
      guard var words = CommandWords.split(command) else { continue }
      if words.contains(where: { $0.contains("%s") }) {
        words = words.map { $0.replacing("%s", with: link) }
      } else {
        words.append(link)
      }
      if case .success = OtherProgram.run(words, .none) { return .success(()) }
    }
    return .failure(
      EnvironmentError("No program opens links: set BROWSER, or copy the link with Alt-c.")
    )
  }
}
