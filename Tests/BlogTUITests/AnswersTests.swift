import BlogModel
import Foundation
import Testing

@testable import BlogTUI

@Suite("Replies to comments")
struct AnswersTests {
  /// Two threads: c1 with c3, which has c4 below it; and c2 with c5.
  private static let comments = [
    BlogComment("c1"), BlogComment("c2", by: "mei"), BlogComment("c3", to: "c1", by: "alice"),
    BlogComment("c4", to: "c3"), BlogComment("c5", to: "c2", by: "alice"),
  ]

  private static func model(
    _ comments: [BlogComment] = comments,
    size: Size = Size(width: 80, height: 30)
  ) -> Model {
    var model = Fixture.loaded(size)
    model.type("j", .enter)
    model.send(.blog(.post("p11", Fixture.posts[1])))
    model.send(.blog(.comments("p11", comments)))
    return model
  }

  private func shown(_ comments: [BlogComment], folded: Set<String> = []) -> [String] {
    CommentThreads.rows(of: comments, folded: folded).map {
      String(repeating: ">", count: $0.depth) + $0.comment.id
        + ($0.isFolded ? "+\($0.answers)" : "")
    }
  }

  @Test("Replies are shown below their comment")
  func order() {
    #expect(shown(Self.comments) == ["c1", ">c3", ">>c4", "c2", ">c5"])
    #expect(shown(Self.comments, folded: ["c1"]) == ["c1+2", "c2", ">c5"])
    #expect(shown(Self.comments, folded: ["c3", "c4"]) == ["c1", ">c3+1", "c2", ">c5"])
  }

  @Test("Replies to a missing comment are shown as ordinary comments")
  func strangers() {
    let odd = [
      BlogComment("c1", to: "c2"), BlogComment("c2", to: "c1"), BlogComment("c3", to: "c3"),
      BlogComment("c4", to: "gone"), BlogComment("c5", to: "\u{1B}[2J"),
    ]
    #expect(shown(odd) == ["c1", ">c2", "c3", "c4", "c5"])
  }

  @Test("A reply chain of any depth is shown completely within the screen width")
  func chain() {
    let chain = (0..<3_000).map { number in
      let id = "c\(10_000 + number)"
      return BlogComment(id, to: number == 0 ? nil : "c\(9_999 + number)")
    }
    #expect(CommentThreads.rows(of: chain, folded: []).map(\.depth) == Array(0..<3_000))
    var model = Self.model(chain, size: Size(width: 20, height: 10))
    model.type("G")
    #expect(model.openPost?.selection == chain.last?.id)
    #expect(model.rows.contains { $0.contains("text of") })
  }

  @Test("A reply inserted above keeps the selected comment on its row")
  func middle() {
    var model = Self.model(size: Size(width: 80, height: 14))
    model.type("G")
    let before = model.rows
    let more = Self.comments + [BlogComment("c6", to: "c1")]
    model.send(.blog(.comments("p11", more)))
    #expect(model.openPost?.selection == "c5")
    #expect(
      model.rows.firstIndex { $0.contains("text of c5") }
        == before.firstIndex { $0.contains("text of c5") }
    )
  }

  @Test("Plain drafts keep their format, and reply drafts also store the comment")
  func coding() throws {
    let plain = try JSONEncoder().encode(["p": [CommentDraft("a")]])
    #expect(String(decoding: plain, as: UTF8.self) == #"{"p":["a"]}"#)
    let drafts: [CommentDraft] = ["a", CommentDraft("b", answering: Self.comments[0])]
    let coded = try JSONEncoder().encode(drafts)
    #expect(try JSONDecoder().decode([CommentDraft].self, from: coded) == drafts)
  }
}
