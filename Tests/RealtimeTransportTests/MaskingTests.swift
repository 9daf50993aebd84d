import TestSupport
import Testing

@testable import RealtimeTransport

@Suite("A WebSocket mask")
struct MaskingTests {
  @Test("applies to each byte in turn and is its own inverse at any length")
  func lengths() {
    var random = SplitMix64(seed: 5)
    let key: [UInt8] = [0x5A, 0xC3, 0x17, 0x99]
    for length in 0..<40 {
      let payload = (0..<length).map { _ in UInt8(random.below(256)) }
      var masked = payload
      masked.applyMask(0x5AC3_1799)
      #expect(masked == payload.enumerated().map { $1 ^ key[$0 & 3] })
      masked.applyMask(0x5AC3_1799)
      #expect(masked == payload)
    }
  }
}
