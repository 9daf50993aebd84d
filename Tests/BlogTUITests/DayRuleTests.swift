import BlogModel
import Foundation
import Testing

@testable import BlogTUI

@Suite("Day separators")
struct DayRuleTests {
  private static let day: Int64 = 86_400_000

  /// A number of posts per day, newest first; the very first is from the current day.
  private func posts(days: Int, perDay: Int, before: Int = 0) -> [Post] {
    (0..<days * perDay).map { number in
      Post(
        id: "d\(before + number)",
        uid: "bob",
        author: "bob",
        title: "Post \(before + number)",
        body: "text",
        createdAt: Fixture.now - Int64(number / perDay) * Self.day - Int64(number % perDay)
      )
    }
  }

  private func model(_ size: Size = Size(width: 80, height: 24)) -> Model {
    var model = Fixture.loaded(size)
    model.send(.blog(.feed(.recent, posts: posts(days: 10, perDay: 3))))
    return model
  }

  @Test("D toggles a date line between posts of different days")
  func toggle() {
    var model = model()
    let without = model.rows
    #expect(!without.contains { $0.contains("Monday") })
    model.type("D")
    #expect(model.rows[2].contains("Post 0"))
    #expect(model.rows[5].hasPrefix("── Monday 13 November ──"))
    #expect(model.rows[6].contains("Post 3"))
    #expect(model.rows[9].hasPrefix("── Sunday 12 November ──"))
    model.type("D", .key(.resize(Size(width: 80, height: 24))))
    #expect(Array(model.rows[2..<21]) == Array(without[2..<21]))
  }

  @Test("Dates of other years include the year, and lists by stars have no date lines")
  func years() {
    var model = model()
    model.type("D")
    let old = Post(id: "old", uid: "b", author: "b", title: "Old", body: "", createdAt: 0)
    model.send(.blog(.feed(.recent, posts: posts(days: 1, perDay: 1) + [old])))
    #expect(model.rows[3].hasPrefix("── Thursday 1 January 1970 ──"))
    model.type("2")
    model.send(.blog(.feed(.top, posts: posts(days: 5, perDay: 1))))
    #expect(!model.rows.contains { $0.contains("November") })
  }

  @Test(
    "A thousand new posts above and older ones below never move the selected post",
    arguments: ["compact", "normal", "full"],
    [0, 4, 11, 29]
  )
  func anchoring(density: String, selected: Int) {
    var model = model()
    model.settings.choose(.word(density), for: .density, from: .session)
    model.type("D")
    model.relayout()
    for _ in 0..<selected { model.type("j") }
    let title = "Post \(selected) "
    let line = model.rows.firstIndex { $0.contains(title) }
    let screen = model.rows[2..<21]
    let below = posts(days: 10, perDay: 3)
    for count in [1, 2, 3, 4, 50, 1_000] {
      let above = (0..<count).map { number in
        Post(
          id: "new\(number)",
          uid: "bob",
          author: "bob",
          title: "New",
          body: "",
          createdAt: Fixture.now + Int64(count - number)
        )
      }
      model.send(.blog(.feed(.recent, posts: above + below)))
      #expect(model.rows.firstIndex { $0.contains(title) } == line)
      #expect(model.rows[2..<21] == screen)
    }
  }

  @Test("Paging down skips no post")
  func paging() {
    var model = model()
    model.type("D")
    var seen: Set<String> = []
    for _ in 0..<20 {
      for row in model.rows[2..<21] {
        if let range = row.range(of: "Post [0-9]+", options: .regularExpression) {
          seen.insert(String(row[range]))
        }
      }
      model.type(.key(.pageDown))
    }
    #expect(seen.count == 30)
    #expect(model.feed.list.selection == "d29")
  }

  @Test("A click on a post selects it, and a click on a date line does nothing")
  func mouse() {
    var model = model()
    model.type("D")
    model.click(6, 10)
    #expect(model.feed.list.selection == "d3")
    model.click(5, 10)
    #expect(model.feed.list.selection == "d3")
    model.click(10, 10)
    #expect(model.feed.list.selection == "d6")
  }

  @Test("In split view, date lines are as wide as the list")
  func split() {
    var model = model(Size(width: 160, height: 30))
    model.type("D", .enter)
    #expect(model.isSplit)
    let rule = model.rows.first { $0.contains("Monday 13 November") }
    #expect(rule?.hasPrefix("── Monday 13 November ──") == true)
    #expect(rule?.prefix(model.listRect.width).hasSuffix("──") == true)
  }

  @Test("The selected post stays visible at any size", arguments: 6..<40)
  func sizes(height: Int) {
    var model = model(Size(width: 60, height: height))
    model.type("D")
    for _ in 0..<30 {
      let id = model.feed.list.selection
      #expect(id.map { model.feed.list.visibleIDs.contains($0) } == true)
      let title = "Post \(id?.dropFirst() ?? "?")"
      #expect(model.rows.contains { $0.hasPrefix("▌\(title)") || $0.hasPrefix("▌ \(title)") })
      model.type("j")
    }
  }
}
