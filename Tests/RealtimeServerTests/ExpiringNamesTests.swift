import Testing

@testable import RealtimeServer

@Suite("Names that count for a while")
struct ExpiringNamesTests {
  @Test("A name counts until its end, and is new again from then on")
  func end() {
    var names = ExpiringNames<Int>()
    let added = [0, 9, 10].map { time in names.insert("a", until: time < 10 ? 10 : 20, at: time) }
    #expect(added == [true, false, true])
    #expect(names.contains("a", at: 19))
    #expect(!names.contains("a", at: 20))
    #expect(!names.contains("b", at: 0))
  }

  @Test("A name that is added again counts until its new end")
  func extended() {
    var names = ExpiringNames<Int>()
    names.insert("a", until: 10, at: 0)
    names.insert("a", until: 30, at: 5)
    #expect(names.contains("a", at: 29))
  }

  @Test("Names that have expired take no memory, and none that counts is forgotten")
  func memory() {
    var names = ExpiringNames<Int>()
    var largest = 0
    for time in 0..<10_000 {
      names.insert("\(time)", until: time + 100, at: time)
      largest = max(largest, names.count)
    }
    #expect(largest <= 202)
    let counting = (0..<10_000).filter { names.contains("\($0)", at: 10_000) }
    #expect(counting == Array(9_901..<10_000))
  }
}
