import Foundation
import TestSupport
import Testing

/// The folder tree is the architecture: a folder uses only folders next to it or below it, never in
/// a circle.
@Suite("Folder dependencies")
struct FolderTests {
  /// Knots that are older than this test of inner folders; none may be added.
  private static let knots = ["App/BlogTUI/Screens", "App/HearthProgram/Commands"]

  /// The targets, and all folders of theirs that hold folders, relative to `Sources`.
  private static let folders: [String] = {
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: sources.path)) ?? []
    let parents = files.filter { $0.hasSuffix(".swift") }.flatMap { file in
      let parts = file.split(separator: "/").dropLast()
      return (2..<max(parts.count, 3)).map { parts.prefix($0).joined(separator: "/") }
    }
    return Set(parents).subtracting(knots).sorted()
  }()

  private static let sources = URL(fileURLWithPath: PackageFiles.path("Sources"))

  @Test("Targets and inner folders are scanned")
  func found() {
    #expect(Self.folders.contains("Core/RealtimeCore"))
    #expect(Self.folders.contains("Server/RealtimeServer/Hub"))
    #expect(Self.folders.count > 20)
  }

  @Test("The folders in a folder have no circular dependencies", arguments: folders)
  func circles(parent: String) throws {
    let uses = try FolderUses(of: Self.sources.appendingPathComponent(parent))
    for circle in uses.circles {
      let reasons = circle.flatMap { folder in
        circle.compactMap { uses.example(from: folder, to: $0) }
      }
      Issue.record(
        "\(parent): \(circle.joined(separator: ", ")): \(reasons.joined(separator: "; "))"
      )
    }
  }

  @Test("A circular dependency is detected")
  func seen() {
    var uses = FolderUses()
    uses.add("struct Plate { let food: Food }", file: "Plate.swift", folder: "Kitchen")
    uses.add("enum Food { case soup }", file: "Food.swift", folder: "Larder")
    #expect(uses.circles.isEmpty)
    uses.add("// a Plate\nlet text = \"Plate\"", file: "Label.swift", folder: "Larder")
    #expect(uses.circles.isEmpty, "comments and texts use nothing")
    uses.add("  func fill(_ plate: Plate) {}", file: "Filling.swift", folder: "Larder")
    #expect(uses.circles == [["Kitchen", "Larder"]])
  }
}

/// Which folders in a folder use types that others declare, judging by names.
private struct FolderUses {
  private var declaring: [String: Set<String>] = [:]
  /// The types that each folder declares, inside others and private ones too: it means these.
  private var own: [String: Set<String>] = [:]
  private var files: [(name: String, folder: String, words: Set<String>)] = []

  init() {}

  /// Reads the Swift files below a folder; files next to its folders count as a folder named ".".
  init(of parent: URL) throws {
    let names = try FileManager.default.subpathsOfDirectory(atPath: parent.path)
    for name in names where name.hasSuffix(".swift") {
      let text = try String(contentsOf: parent.appendingPathComponent(name), encoding: .utf8)
      let folder = name.contains("/") ? String(name.prefix { $0 != "/" }) : "."
      add(text, file: name, folder: folder)
    }
  }

  mutating func add(_ text: String, file: String, folder: String) {
    var words: Set<String> = []
    for line in Self.code(of: text).split(separator: "\n") {
      if line.contains("import "), line.split(separator: " ").dropLast().last == "import" {
        continue
      }
      if let type = Self.declaredType(in: line.drop { $0 == " " }) {
        own[folder, default: []].insert(type.name)
        // A type that is private to its file, or inside another, is not used by its name elsewhere.
        if !type.isPrivate, line.first != " " { declaring[type.name, default: []].insert(folder) }
      }
      // A name after a dot belongs to the name before it, as in `GRDB.Database`.
      for name in line.split(whereSeparator: { !Self.isNamePart($0) && $0 != "." }) {
        let word = name.prefix { $0 != "." }
        if word.first?.isUppercase == true { words.insert(String(word)) }
      }
    }
    files.append((file, folder, words))
  }

  /// The folders of each circle, sorted.
  var circles: [[String]] {
    var uses: [String: Set<String>] = [:]
    for file in files {
      let words = file.words.subtracting(own[file.folder] ?? [])
      uses[file.folder, default: []].formUnion(folders(usedBy: words))
    }
    let reached = uses.mapValues { first in
      var all = first
      var open = Array(first)
      while let folder = open.popLast() {
        for next in uses[folder] ?? [] where all.insert(next).inserted { open.append(next) }
      }
      return all
    }
    let circles = uses.keys.map { folder in
      uses.keys.filter { other in
        other != folder && reached[folder]?.contains(other) == true
          && reached[other]?.contains(folder) == true
      } + [folder]
    }
    return Set(circles.filter { $0.count > 1 }.map { $0.sorted() }).sorted { $0[0] < $1[0] }
  }

  /// Gives one reason why a folder needs another.
  func example(from folder: String, to other: String) -> String? {
    guard folder != other else { return nil }
    for file in files where file.folder == folder {
      for word in file.words.subtracting(own[folder] ?? []).sorted()
      where declaring[word] == [other] {
        return "\(file.name) uses \(word) of \(other)"
      }
    }
    return nil
  }

  private static func isNamePart(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_"
  }

  /// The folders whose types these words use; a name that several folders declare is ambiguous and
  /// ignored.
  private func folders(usedBy words: Set<String>) -> Set<String> {
    Set(words.compactMap { word in declaring[word].flatMap { $0.count == 1 ? $0.first : nil } })
  }

  /// The text without comments and the contents of strings.
  private static func code(of text: String) -> String {
    var code = ""
    var isInLongString = false
    for line in text.split(separator: "\n") {
      var rest = line[...]
      while !rest.isEmpty {
        if isInLongString {
          guard let end = rest.range(of: "\"\"\"") else { break }
          isInLongString = false
          rest = rest[end.upperBound...]
          continue
        }
        guard let mark = rest.firstIndex(where: { $0 == "\"" || $0 == "/" }) else {
          code += rest
          break
        }
        code += rest[..<mark]
        rest = rest[mark...]
        if rest.hasPrefix("//") { break }
        if rest.hasPrefix("\"\"\"") {
          isInLongString = true
          rest = rest.dropFirst(3)
        } else if rest.first == "\"" {
          rest = afterString(rest.dropFirst())
        } else {
          rest = rest.dropFirst()
        }
      }
      code += "\n"
    }
    return code
  }

  private static func afterString(_ text: Substring) -> Substring {
    var rest = text
    while let character = rest.popFirst() {
      if character == "\\" { rest = rest.dropFirst() }
      if character == "\"" { break }
    }
    return rest
  }

  private static func declaredType(in line: Substring) -> (name: String, isPrivate: Bool)? {
    guard line.first?.isLetter == true || line.first == "@" else { return nil }
    let keywords: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    let words = line.split(separator: " ")
    guard let position = words.firstIndex(where: { keywords.contains($0) }), position < 5,
      !words[..<position].contains("extension"), words.count > position + 1
    else { return nil }
    let name = String(words[position + 1].prefix(while: isNamePart))
    return (name, words[..<position].contains("private"))
  }
}
