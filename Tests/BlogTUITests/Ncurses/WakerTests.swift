import Testing

@testable import BlogTUI

@Suite("Waker")
struct WakerTests {
  @Test("Any number of calls cause one wake-up, and none is lost")
  func wake() throws {
    let waker = try Waker()
    #expect(!waker.drain())
    waker.wake()
    waker.wake()
    #expect(waker.drain())
    #expect(!waker.drain())
  }
}
