import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Ordered posts")
struct OrderedPostsTests {
  @Test("A post is found from any starting index, and a missing one is not")
  func places() {
    let posts = OrderedPosts(Fixture.numbered(1...40))
    for (number, post) in posts.enumerated() {
      for guess in [-5, 0, number - 1, number, number + 1, 39, 40, 1_000] {
        #expect(posts.index(of: post.id, near: guess) == number)
      }
    }
    for guess in [-1, 0, 20, 40] { #expect(posts.index(of: "n41", near: guess) == nil) }
    #expect(OrderedPosts().index(of: "n1", near: 0) == nil)
  }

  @Test(
    "A search stays within the given distance of its starting index",
    arguments: [0, 1, 7, 39, 40]
  )
  func distances(distance: Int) {
    let posts = OrderedPosts(Fixture.numbered(1...40))
    for (number, post) in posts.enumerated() {
      for guess in 0..<40 {
        let isNear = abs(number - guess) <= distance
        let found = posts.index(of: post.id, near: guess, within: distance)
        #expect(found == (isNear ? number : nil))
      }
    }
  }

  @Test("Duplicate IDs are dropped after the first")
  func once() {
    let twice = Fixture.numbered(1...5) + Fixture.numbered(3...7)
    #expect(OrderedPosts(twice).map(\.id) == ["n5", "n4", "n3", "n2", "n1", "n7", "n6"])
  }

  @Test(
    "The posts added at the top match a set-based reference under random changes",
    arguments: UInt64(1)...40
  )
  func added(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var numbers = Array((1...60).reversed())
    for step in 0..<40 {
      let before = numbers
      switch Int.random(in: 0...7, using: &random) {
      case 0: numbers.removeFirst(min(numbers.count, Int.random(in: 0...20, using: &random)))
      case 1: numbers.removeLast(min(numbers.count, Int.random(in: 0...20, using: &random)))
      case 2: numbers += (1...20).map { -100 * (step + 1) - $0 }
      case 3: numbers = (1...5).map { 100 * (step + 1) - $0 } + numbers
      case 4: numbers.insert(10_000 + step, at: Int.random(in: 0...numbers.count, using: &random))
      case 5: numbers = numbers.filter { _ in Int.random(in: 0...9, using: &random) > 0 }
      case 6:
        numbers.removeFirst(min(numbers.count, 10))
        numbers += (1...10).map { -100 * (step + 1) - $0 }
      default:
        if !numbers.isEmpty {
          let moved = numbers.remove(at: Int.random(in: 0..<numbers.count, using: &random))
          numbers.insert(moved, at: Int.random(in: 0...numbers.count, using: &random))
        }
      }
      let known = Set(before)
      let last = numbers.lastIndex { known.contains($0) } ?? 0
      let expected = numbers[..<last].filter { !known.contains($0) }.map { "n\($0)" }
      let added = Self.posts(numbers).added(since: Self.posts(before)).map(\.id)
      #expect(added == expected)
    }
  }

  private static func posts(_ numbers: [Int]) -> OrderedPosts {
    OrderedPosts(
      numbers.map { Post(id: "n\($0)", uid: "bob", author: "bob", title: "t", body: "b") }
    )
  }
}
