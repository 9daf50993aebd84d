import RealtimeCore
import Testing

@Suite("Validation")
struct ValidationTests {
  @Test(
    "rejects invalid keys",
    arguments: ["", "a.b", "a$", "a#", "[", "]", "a/b", "\u{1F}", "\u{7F}", "a\u{0}b", ".priority"]
  )
  func badKeys(key: String) {
    #expect(Validation.problem(withKey: key) != nil)
    #expect(Validation.problem(withPath: Path([ChildKey(key)])) != nil)
    #expect(
      Validation.problem(with: .empty.setting(ChildKey(key + "x"), to: .integer(1)), at: .root)
        != nil
        || key.isEmpty || key == ".priority"
    )
  }

  @Test("finds a forbidden byte anywhere in a key, whatever its length")
  func everyByte() {
    let forbidden = Set(".$#[]/\u{7F}".utf8).union(0..<0x20)
    for byte in UInt8(0)..<0x80 {
      for count in 1...18 {
        for position in 0..<count {
          for other in ["a", "~", "\u{80}"] {
            var scalars = [String](repeating: other, count: count)
            scalars[position] = String(UnicodeScalar(byte))
            let key = scalars.joined()
            #expect((Validation.problem(withKey: key) == nil) == !forbidden.contains(byte))
          }
        }
      }
    }
  }

  @Test(
    "accepts valid keys",
    arguments: ["é", " ", "\"", "%", "\\", "%41", "🐵", "-NjEtLV0------------", "\u{80}"]
  )
  func goodKeys(key: String) {
    #expect(Validation.problem(withKey: key) == nil)
  }

  @Test(
    "limits a key to 768 bytes",
    arguments: [("a", 768, true), ("a", 769, false), ("é", 384, true), ("é", 385, false)]
  )
  func keyLength(character: String, count: Int, isLegal: Bool) {
    let key = String(repeating: character, count: count)
    #expect((Validation.problem(withKey: key) == nil) == isLegal)
    let node = Node.empty.setting(ChildKey(key), to: .integer(1))
    #expect((Validation.problem(with: node, at: .root) == nil) == isLegal)
  }

  @Test("limits a path, including the keys within the data", arguments: ["x", "x/y"] as [Path])
  func pathLength(path: Path) {
    let used = path.count * 2
    func node(_ bytes: Int) -> Node {
      .empty.setting(ChildKey(String(repeating: "a", count: bytes)), to: .integer(1))
    }
    #expect(Validation.problem(with: node(768 - used - 1), at: path) == nil)
    #expect(Validation.problem(with: node(768 - used + 1), at: path) != nil)
  }

  @Test(
    "limits what a client writes to 767 bytes of keys and separators",
    arguments: [
      (Path.root, "a", 767), (.root, "é", 383), ("x", "a", 765), ("x/y", "a", 763),
    ]
  )
  func writtenLength(path: Path, character: String, most: Int) {
    func problem(_ keys: [String]) -> String? {
      let below = Path(keys.map { ChildKey($0) })
      return Validation.problem(withWritten: Node.empty.setting(below, to: .integer(1)), at: path)
    }
    #expect(problem([String(repeating: character, count: most)]) == nil)
    #expect(problem([String(repeating: character, count: most + 1)]) != nil)
    #expect(problem(Array(repeating: "k", count: 32 - path.count)) == nil)
    #expect(problem(Array(repeating: "k", count: 33 - path.count)) != nil)
  }

  @Test("limits the depth to 32 keys, including those of the path")
  func depth() {
    func nested(_ depth: Int) -> Node {
      Node.empty.setting(Path((0..<depth).map { _ in ChildKey("k") }), to: .integer(1))
    }
    #expect(Validation.problem(with: nested(32), at: .root) == nil)
    #expect(Validation.problem(with: nested(33), at: .root) != nil)
    #expect(Validation.problem(with: nested(31), at: "x") == nil)
    #expect(Validation.problem(with: nested(32), at: "x") != nil)
  }

  @Test("limits strings to 10 MiB")
  func strings() {
    let longest = String(repeating: "a", count: Limits.stringBytes)
    #expect(Validation.problem(with: .string(longest), at: "a") == nil)
    #expect(Validation.problem(with: .string(longest + "a"), at: "a") != nil)
    #expect(
      Validation.problem(with: .empty.setting(Path("b"), to: .string(longest + "a")), at: "a")
        != nil
    )
  }

  @Test("accepts the path of a priority but no other key with a dot")
  func priorities() {
    #expect(Validation.problem(with: .integer(1), at: "a/.priority") == nil)
    #expect(Validation.problem(with: .integer(1), at: ".priority") == nil)
    #expect(Validation.problem(with: .integer(1), at: "a/.value") != nil)
    #expect(Validation.problem(with: .integer(1), at: "a/.priority/b") != nil)
    #expect(Validation.problem(with: .integer(1), at: "a.b/.priority") != nil)
  }

  @Test("finds an illegal key deep within the data")
  func deepKey() throws {
    let node = try Node(text: #"{"a":{"b":{"c$":1}}}"#)
    #expect(Validation.problem(with: node, at: .root)?.contains("$") == true)
  }
}
