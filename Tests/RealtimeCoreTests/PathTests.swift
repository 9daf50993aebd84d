import RealtimeCore
import TestSupport
import Testing

@Suite("Path")
struct PathTests {
  @Test(
    "parses every spelling used on the wire",
    arguments: [
      ("", []), ("/", []), ("//", []), ("/a b/ü", ["a b", "ü"]), ("a b/ü", ["a b", "ü"]),
      ("/a//b/", ["a", "b"]), ("/%41/b%2Fc", ["%41", "b%2Fc"]),
      ("a/.priority", ["a", ".priority"]),
    ] as [(String, [String])]
  )
  func wire(text: String, keys: [String]) {
    #expect(Path(wire: text).keys.map(\.text) == keys)
  }

  @Test("is split at each slash, at any position", arguments: 0..<200 as Range<UInt64>)
  func splitting(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let bytes = Array("//ab.0é".utf8) + [UInt8(ascii: "/") - 1, UInt8(ascii: "/") + 1]
    let count = Int.random(in: 0..<40, using: &random)
    let text = String(
      decoding: (0..<count).compactMap { _ in bytes.randomElement(using: &random) },
      as: UTF8.self
    )
    #expect(Path(wire: text).keys.map(\.text) == text.split(separator: "/").map { String($0) })
  }

  @Test("has a leading slash in client messages and none in server messages")
  func text() {
    #expect(Path("a/b").wireText == "a/b")
    #expect(Path("a/b").description == "/a/b")
    #expect(Path.root.wireText.isEmpty)
    #expect(Path.root.description == "/")
  }

  @Test("contains itself and its descendants, but no sibling with the same prefix")
  func containment() {
    #expect(Path("a").contains("a"))
    #expect(Path("a").contains("a/b"))
    #expect(!Path("a").contains("a-b"))
    #expect(!Path("a/b").contains("a"))
    #expect(Path.root.contains("a"))
    #expect(Path("a/b").overlaps("a"))
    #expect(!Path("a/b").overlaps("a/c"))
  }

  @Test("provides its parts")
  func parts() {
    let path = Path("a/b/c")
    #expect(path.first == "a")
    #expect(path.last == "c")
    #expect(path.rest == "b/c")
    #expect(path.parent == "a/b")
    #expect(path.relative(to: "a") == "b/c")
    #expect(path.relative(to: "b") == nil)
    #expect(Path.root.parent == nil)
    #expect(Path.root.rest == .root)
  }

  @Test("sorts key by key, shorter paths first")
  func order() {
    let paths: [Path] = ["", "2", "10", "a", "a/b", "a/b/c", "a/c", "b"]
    #expect(paths.reversed().sorted() == paths)
  }

  @Test("recognizes a priority by its last key")
  func priority() {
    #expect(Path("a/.priority").isPriority)
    #expect(!Path("a").isPriority)
  }
}
