import BlogModel
import Testing

@testable import BlogTUI

@Suite("New comments on read posts")
struct NewCommentsTests {
  @Test("Only posts near the view are watched, and the watch does not change with every row")
  func watched() {
    var model = Fixture.started(Size(width: 80, height: 10))
    func asked(_ event: Event) -> [[PostID]] {
      model.sendAsking(event).compactMap { effect in
        if case .request(.watchComments(let posts)) = effect { posts } else { nil }
      }
    }
    let posts = Fixture.numbered(1...100)
    let ids = posts.map(\.id)
    let height = model.feed.list.capacity
    let rows = height + height / 2
    #expect(asked(.blog(.feed(.recent, posts: posts))) == [Array(ids.prefix(rows))])
    for _ in 1..<rows { #expect(asked(.key(.down)) == []) }
    #expect(asked(.key(.down)).count == 1)
    let later = (0..<60).flatMap { _ in asked(.key(.down)) }
    #expect(later.count <= 60 / (height / 2) + 1)
    #expect(model.feed.list.visibleIDs.allSatisfy { later.last?.contains($0) == true })
    // While a search is being typed, the rows change with each letter.
    #expect(asked(.key(.character("/"))) + asked(.key(.character("7"))) == [])
    #expect(asked(.key(.enter)).count == 1)
  }
}
