import Synchronization
import Testing

@testable import BlogModel

@Suite("Light markdown")
struct LightMarkdownTests {
  /// A character that counts how often its reader looks at it.
  private struct Watched: MarkupUnit {
    /// The looks at all characters that share it.
    final class Looks: Sendable {
      let count = Atomic<Int>(0)
    }

    let character: Character
    let looks: Looks

    var plain: Unicode.Scalar? {
      looks.count.add(1, ordering: .relaxed)
      return character.plain
    }
    var isOfWord: Bool {
      looks.count.add(1, ordering: .relaxed)
      return character.isOfWord
    }
    var isBlank: Bool {
      looks.count.add(1, ordering: .relaxed)
      return character.isBlank
    }

    static func == (left: Self, right: Self) -> Bool { left.character == right.character }
    func hash(into hasher: inout Hasher) { character.hash(into: &hasher) }
  }

  @Test(
    "is read in a number of looks that grows as the text does, whatever that is",
    arguments: [
      "*a ", "**a", "_a _", "`", "``a", "[", "[x](", "[x](http://", "> ", "http://", "- ", "#a ",
      "***", "@a", "_a_", "[a](", "\\",
    ]
  )
  func hostileLength(pattern: String) {
    func looks(_ length: Int) -> Int {
      let looks = Watched.Looks()
      let line = String(repeating: pattern, count: length / pattern.count).map {
        Watched(character: $0, looks: looks)
      }
      _ = LightMarkdown.lines(of: [line])
      return looks.count.load(ordering: .relaxed)
    }
    // Both texts are longer than the farthest that a sign can reach. A square would be four times.
    let (short, long) = (looks(4_000), looks(8_000))
    #expect(long <= 3 * short, "\(short) looks became \(long)")
  }
}
