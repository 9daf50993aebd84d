import Foundation
import TestSupport
import Testing

/// The boundary below which there is no clock, no randomness, no socket and no lock.
@Suite("Module boundaries")
struct PurityTests {
  /// The modules that each pure folder of `Sources` may import.
  private static let allowed: [String: Set<String>] = [
    "Core/RealtimeCore": [],
    "Client/RealtimeDatabase/Sync": ["RealtimeCore"],
    "Server/RealtimeServer/Hub": ["RealtimeCore"],
    "Server/RealtimeServer/Rules": ["RealtimeCore"],
    "App/BlogTUI/Terminal": [],
  ]

  /// The only folders that may import a module.
  private static let owners: [String: [String]] = [
    "CEpoll": ["Lab/Benchmarks/"],
    "CNcurses": ["App/BlogTUI/Ncurses/"],
    "CPostgres": ["Server/PostgresStorage/Connection/"],
    "GRDB": ["Client/RealtimeDatabase/OfflineStorage/", "Server/RealtimeServer/Storage/SQLite/"],
    "NIOSSL": ["Core/RealtimeTransport/TLS/"],
    "CLibcrypto": ["Server/RealtimeServer/Accounts/"],
    "ArgumentParser": ["App/HearthProgram/", "Lab/Benchmarks/", "Lab/hearth-lab/"],
  ]

  private static let sources = URL(fileURLWithPath: PackageFiles.path("Sources"))

  @Test("Pure folders import only the layers below them", arguments: allowed.keys.sorted())
  func pure(folder: String) throws {
    let imports = try Self.sourceFiles(in: folder).flatMap(Self.imports)
    for (file, module) in imports {
      #expect(Self.allowed[folder]?.contains(module) == true, "\(file) imports \(module)")
    }
  }

  @Test("Each external library is imported only in its own layer")
  func edges() throws {
    let imports = try Self.sourceFiles().flatMap(Self.imports)
    #expect(Set(Self.owners.keys).subtracting(imports.map(\.module)) == [])
    for (file, module) in imports {
      guard let owners = Self.owners[module] else { continue }
      #expect(owners.contains { file.hasPrefix($0) }, "\(file) imports \(module)")
    }
  }

  @Test("No source uses Mutex, which confuses the thread sanitizer, or Task.sleep")
  func forbidden() throws {
    for file in try Self.sourceFiles() {
      let text = try Self.text(of: file)
      #expect(!text.contains("Mutex"), "\(file)")
      #expect(!text.contains("Task.sleep"), "\(file)")
    }
  }

  /// The paths of the Swift files below a folder of `Sources`, relative to `Sources`.
  private static func sourceFiles(in folder: String = "") throws -> [String] {
    let root = sources.appendingPathComponent(folder).path
    let files = try FileManager.default.subpathsOfDirectory(atPath: root)
      .filter { $0.hasSuffix(".swift") }
      .map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
    try #require(!files.isEmpty, "\(root) holds no source")
    return files
  }

  private static func text(of file: String) throws -> String {
    try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
  }

  private static func imports(of file: String) throws -> [(file: String, module: String)] {
    try text(of: file).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard let position = words.firstIndex(of: "import"), position < 2,
        words.count > position + 1,
        position == 0 || ["public", "package", "internal", "private"].contains(words[0])
      else { return nil }
      return (file, String(words[position + 1]))
    }
  }
}
