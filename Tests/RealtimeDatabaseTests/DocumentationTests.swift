import Foundation
import Testing

/// Checks the sources of the library, since the compiler does not report missing comments.
@Suite("Library documentation")
struct DocumentationTests {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources/Client/RealtimeDatabase")

  private static func files(_ suffix: String) throws -> [URL] {
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (all?.allObjects.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == suffix }
  }

  @Test("Every public declaration has a comment, including enumeration cases")
  func comments() throws {
    var count = 0
    for file in try Self.files("swift") {
      let lines = try String(contentsOf: file, encoding: .utf8).split(
        separator: "\n",
        omittingEmptySubsequences: false
      )
      var enumeration: Int?
      for (number, line) in lines.enumerated() {
        let indent = line.prefix { $0 == " " }.count
        let words = line.split(separator: " ").map(String.init)
        if let open = enumeration, indent <= open, words.first == "}" { enumeration = nil }
        let isPublic = words.first == "public" || words.first == "open"
        let isImport = words.contains("import")
        let isCase = words.first == "case" && enumeration.map { indent == $0 + 2 } == true
        if isPublic, words.contains("enum"), words.last == "{" { enumeration = indent }
        guard (isPublic && !isImport) || isCase else { continue }
        count += 1
        #expect(
          isDocumented(lines, before: number),
          "\(file.lastPathComponent):\(number + 1): \(line)"
        )
      }
    }
    #expect(count > 150)
  }

  @Test("The catalog has its articles, and its first page lists each of them")
  func articles() throws {
    let pages = try Self.files("md").map { $0.deletingPathExtension().lastPathComponent }
    let first = Self.folder.appending(path: "RealtimeDatabase.docc/RealtimeDatabase.md")
    let text = try String(contentsOf: first, encoding: .utf8)
    for article in [
      "GettingStarted", "Observing", "Lists", "OfflineAndTransactions", "SecurityRules",
      "Architecture", "Differences",
    ] {
      #expect(pages.contains(article))
      #expect(text.contains("<doc:\(article)>"))
    }
  }

  /// Tests name what they prove about a difference in a comment: `Differs:` and how the page begins it.
  @Test("Tests and the page of differences name the same differences")
  func differences() throws {
    let page = Self.folder.appending(path: "RealtimeDatabase.docc/Differences.md")
    let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("| ") && $0.split(separator: "|").count == 3 }
      .map { $0.dropFirst(2) }
      .filter { !$0.hasPrefix("What |") && !$0.hasPrefix("---") }
    let repository = Self.folder.appending(path: "../../..").standardized
    let tests = repository.appending(path: "Tests").path
    let files = try FileManager.default.subpathsOfDirectory(atPath: tests)
      .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".txt") }.map { "\(tests)/\($0)" }
    let script = repository.appending(path: "assets/scripts/test-consumers").path
    var unnamed = Set(rows)
    for file in files + [script] {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      for match in text.matches(of: /(?m)^ *(?:\/\/|#) Differs: (.+)$/) {
        let named = rows.filter { $0.hasPrefix(match.1) }
        #expect(named.count == 1, "\(file) names \(match.1)")
        unnamed.subtract(named)
      }
    }
    #expect(rows.count > 40)
    #expect(unnamed.isEmpty)
  }

  /// Whether a documentation comment precedes a line, ignoring attributes in between.
  private func isDocumented(_ lines: [Substring], before number: Int) -> Bool {
    var index = number - 1
    while index >= 0, lines[index].drop(while: { $0 == " " }).hasPrefix("@") { index -= 1 }
    return index >= 0 && lines[index].drop(while: { $0 == " " }).hasPrefix("///")
  }
}
