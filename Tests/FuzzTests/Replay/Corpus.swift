import Foundation

/// The examples of a target: small files with descriptive names.
struct Corpus {
  struct Example: CustomStringConvertible {
    let name: String
    let bytes: [UInt8]

    var description: String { name }
  }

  /// The examples, sorted by name.
  let examples: [Example]

  init(_ target: FuzzTarget) throws {
    let folder = Self.folder.appendingPathComponent(target.rawValue)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    examples = try names.map { name in
      Example(name: name, bytes: Array(try Data(contentsOf: folder.appendingPathComponent(name))))
    }
  }

  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("assets/fuzz")
}
