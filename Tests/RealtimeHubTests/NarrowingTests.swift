import RealtimeCore
import RealtimeServer
import Testing

@Suite("TreeHub: rewrites of large values")
struct NarrowingTests {
  /// A post with stars, as a transaction writes it.
  private func post(_ stars: some Sequence<Int>, count: Int, title: String = "t") -> String {
    let map = stars.map { #""u\#(1_000 + $0)":true"# }.joined(separator: ",")
    return #"{"starCount":\#(count),"stars":{\#(map)},"title":"\#(title)"}"#
  }

  private func dialogue() throws -> Dialogue {
    var dialogue = try Dialogue(#"{"posts":{"p":\#(post(0..<40, count: 40))}}"#)
    _ = dialogue.ask(1, "q", #"{"p":"/posts/p","h":""}"#)
    return dialogue
  }

  @Test("Listeners and the log get only the changes, all at once")
  func narrow() throws {
    var dialogue = try dialogue()
    _ = dialogue.ask(2, "q", #"{"p":"/posts","q":{"l":5,"vf":"r"},"t":1,"h":""}"#)
    let write = #"{"p":"/posts/p","d":\#(post(0..<41, count: 41))}"#
    #expect(
      dialogue.ask(3, "p", write) == [
        push("m", #"{"p":"posts","d":{"p/starCount":41,"p/stars/u1040":true},"t":1}"#),
        push("m", #"{"p":"posts/p","d":{"starCount":41,"stars/u1040":true}}"#),
        response(3),
      ]
    )
    let other = #"{"p":"/posts/p","d":\#(post(1..<41, count: 40))}"#
    _ = dialogue.askUncommitted(4, "p", other)
    let commit = try #require(dialogue.hub.takeBatch()?.commits.first)
    #expect(
      commit.changes == [
        Change(Path(wire: "posts/p/starCount"), to: .integer(40)),
        Change(Path(wire: "posts/p/stars/u1000"), to: .empty),
      ]
    )
  }

  @Test("A value that is small or differs in many places is sent whole")
  func whole() throws {
    var dialogue = try dialogue()
    let many = post(5..<45, count: 40)
    #expect(
      dialogue.ask(2, "p", #"{"p":"/posts/p","d":\#(many)}"#) == [
        push("d", #"{"p":"posts/p","d":\#(many)}"#), response(2),
      ]
    )
    _ = dialogue.ask(3, "p", #"{"p":"/posts/p","d":{"a":1,"b":2}}"#)
    #expect(
      dialogue.ask(4, "p", #"{"p":"/posts/p","d":{"a":1,"b":3}}"#) == [
        push("d", #"{"p":"posts/p","d":{"a":1,"b":3}}"#), response(4),
      ]
    )
  }

  @Test("A new priority is sent with the whole value")
  func priority() throws {
    var dialogue = try dialogue()
    let stars = (1..<41).map { #""u\#(1_000 + $0)":true"# }.joined(separator: ",")
    let body = #"{"p":"posts/p/stars","d":{".priority":1,\#(stars)}}"#
    #expect(dialogue.ask(2, "p", body) == [push("d", body), response(2)])
    #expect(dialogue.data("posts/p/stars").priority == .integer(1))
  }
}
