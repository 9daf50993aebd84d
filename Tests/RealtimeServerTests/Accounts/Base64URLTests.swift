import RealtimeServer
import TestSupport
import Testing

@Suite("Base64URL")
struct Base64URLTests {
  @Test("Encoded bytes decode to the original at every length")
  func roundTrip() {
    var random = SplitMix64(seed: 1)
    for length in 0..<70 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
    }
  }

  @Test(
    "Text that is not a valid encoding is refused",
    arguments: ["A", "AB=", "AA==", "A+/A", "A A", "AB", "AAB", "Ä"]
  )
  func refused(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }

  @Test("The alphabet is URL-safe")
  func alphabet() {
    #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
  }
}
