import Foundation
import Testing

/// The line below which there is no clock, no chance, no socket and no lock.
@Suite("The purity line")
struct PurityTests {
  /// What each pure target may import; nothing else.
  private static let allowed: [String: Set<String>] = [
    "RealtimeTree": [],
    "RealtimeProtocol": ["RealtimeTree"],
    "RealtimeSync": ["RealtimeProtocol", "RealtimeTree"],
    "RealtimeHub": ["RealtimeProtocol", "RealtimeTree", "SecurityRules"],
    "SecurityRules": ["RealtimeTree"],
    "TerminalUI": [],
  ]

  /// What only some targets may import.
  private static let owners: [String: Set<String>] = [
    "CNcurses": ["NcursesTerminal"], "GRDB": ["OfflineStorage", "SQLiteStorage"],
    "NIOSSL": ["RealtimeTransport"], "ArgumentParser": ["Benchmarks", "hearth"],
  ]

  private static let sources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources")

  @Test("Pure targets import only what stands below them", arguments: allowed.keys.sorted())
  func pure(target: String) throws {
    for (file, module) in try imports(of: target) {
      #expect(Self.allowed[target]?.contains(module) == true, "\(file) imports \(module)")
    }
  }

  @Test("Each thing outside is touched at one edge")
  func edges() throws {
    for target in try FileManager.default.contentsOfDirectory(atPath: Self.sources.path) {
      for (file, module) in try imports(of: target) {
        guard let owners = Self.owners[module] else { continue }
        #expect(owners.contains(target), "\(target)/\(file) imports \(module)")
      }
    }
  }

  @Test("No source uses the mutex that the thread sanitizer misjudges, or sleeps")
  func forbidden() throws {
    for target in try FileManager.default.contentsOfDirectory(atPath: Self.sources.path) {
      for file in try files(of: target) {
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("Mutex<"), "\(file.lastPathComponent)")
        #expect(!text.contains("Task.sleep"), "\(file.lastPathComponent)")
      }
    }
  }

  private func files(of target: String) throws -> [URL] {
    let folder = Self.sources.appendingPathComponent(target)
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return names.filter { $0.hasSuffix(".swift") }.map { folder.appendingPathComponent($0) }
  }

  private func imports(of target: String) throws -> [(file: String, module: String)] {
    guard FileManager.default.fileExists(atPath: Self.sources.appendingPathComponent(target).path)
    else { return [] }
    var found: [(file: String, module: String)] = []
    for file in try files(of: target) {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let position = words.firstIndex(of: "import"), position < 2,
          words.count > position + 1
        else { continue }
        let isStatement =
          position == 0 || ["public", "package", "internal", "private"].contains(words[0])
        if isStatement { found.append((file.lastPathComponent, String(words[position + 1]))) }
      }
    }
    return found
  }
}
