import TestSupport
import Testing

@testable import BlogTUI

@Suite("SafeText hostile input")
struct SafeTextTortureTests {
  private static let modes: [SafeText.Mode] = [.singleLine, .multiLine]

  private func check(_ input: String, limit: Int? = nil) {
    for mode in Self.modes {
      let text = SafeText(untrusted: input, mode: mode, limit: limit)
      #expect(text.clusters.allSatisfy { $0.width == 1 || $0.width == 2 })
      #expect(text.width == text.clusters.reduce(0) { $0 + $1.width })
      for cluster in text.clusters { checkHarmless(cluster) }
      #expect(mode == .multiLine || text.lineBreaks.isEmpty)
      #expect(text.lineBreaks == text.lineBreaks.sorted())
      let again = SafeText(untrusted: text.string, mode: mode, limit: limit)
      #expect(again == text, "not idempotent: \(input.unicodeScalars.map { $0.value })")
      #expect(Array(again.string.utf8) == Array(text.string.utf8))
    }
  }

  /// Joined emoji consist of emoji and joiners only, and are two cells wide.
  private func checkJoined(_ cluster: Cluster) {
    let scalars = Array(cluster.text.unicodeScalars)
    #expect(cluster.width == 2 && (2...19).contains(scalars.count))
    #expect(scalars.first?.properties.isEmoji == true && scalars.last != "\u{200D}")
    #expect(scalars.allSatisfy { $0.properties.isEmoji || ["\u{200D}", "\u{FE0F}"].contains($0) })
    #expect(scalars.allSatisfy { $0.value >= 0x2000 })
  }

  private func checkHarmless(_ cluster: Cluster) {
    guard !cluster.isJoined else { return checkJoined(cluster) }
    let scalars = Array(cluster.text.unicodeScalars)
    #expect(scalars.count >= 1 && scalars.count <= 1 + SafeText.markLimit)
    for (index, scalar) in scalars.enumerated() {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      #expect(!isControl)
      #expect(!scalar.properties.isDefaultIgnorableCodePoint)
      #expect(!scalar.properties.isBidiControl)
      #expect(!scalar.properties.isNoncharacterCodePoint)
      #expect(![0x2028, 0x2029].contains(scalar.value))
      #expect(TextWidth.width(of: scalar) == (index == 0 ? cluster.width : 0))
    }
  }

  @Test("The hostile corpus becomes harmless with correct widths, and a second pass is a no-op")
  func corpus() {
    for input in HostileText.corpus {
      check(input)
      check(input, limit: 5)
    }
    check(HostileText.corpus.joined())
    check(HostileText.corpus.joined(), limit: 30)
  }

  @Test("Random strings become harmless", arguments: 0..<8 as Range<UInt64>)
  func random(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    for round in 0..<150 {
      let input = HostileText.random(using: &generator, length: round % 40)
      check(input)
      check(input, limit: 1 + round % 7)
    }
  }

  @Test("Every Unicode scalar becomes harmless")
  func everyScalar() {
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = SafeText(untrusted: String(Character(scalar)), mode: .multiLine)
      guard
        text.clusters.contains(where: { cluster in
          cluster.text.unicodeScalars.contains { scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
              || scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isBidiControl
              || scalar.properties.isNoncharacterCodePoint || TextWidth.width(of: scalar) == nil
          }
        })
      else { continue }
      Issue.record("harmful: \(value)")
    }
  }

  @Test("Any number of invisible characters is dropped")
  func hiddenText() {
    let text = SafeText(untrusted: String(repeating: "\u{200B}", count: 100_000) + "x")
    #expect(text.string == "x")
  }
}
