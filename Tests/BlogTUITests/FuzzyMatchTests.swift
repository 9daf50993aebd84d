import Testing

@testable import BlogTUI

@Suite("FuzzyMatch")
struct FuzzyMatchTests {
  @Test("A match contains all letters in order")
  func order() {
    #expect(FuzzyMatch("abc", in: "a-b-c") != nil)
    #expect(FuzzyMatch("cba", in: "a-b-c") == nil)
    #expect(FuzzyMatch("abcd", in: "abc") == nil)
    #expect(FuzzyMatch("", in: "abc")?.positions == [])
  }

  @Test("Adjacent letters and word starts score higher than scattered letters")
  func ranking() throws {
    func score(_ pattern: String, _ name: String) throws -> Int {
      try #require(FuzzyMatch(pattern, in: name)).score
    }
    #expect(try score("st", "star") > score("st", "suspend it"))
    #expect(try score("nl", "next-list") > score("nl", "only"))
    #expect(try score("star", "star") > score("star", "star or unstar"))
  }

  @Test("A match reports the positions of its letters")
  func places() {
    #expect(FuzzyMatch("nl", in: "next-list")?.positions == [0, 5])
    #expect(FuzzyMatch("LIST", in: "next-list")?.positions == [5, 6, 7, 8])
  }
}
