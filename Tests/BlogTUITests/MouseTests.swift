import BlogModel
import Testing

@testable import BlogTUI

@Suite("Mouse")
struct MouseTests {
  /// Clicks on the first cell of a text on the screen.
  @discardableResult
  private func click(
    _ text: String,
    in model: inout Model,
    at location: SourceLocation = #_sourceLocation
  ) throws -> [Effect] {
    let place = try #require(view(model).position(of: text), sourceLocation: location)
    return model.click(place.row, place.column)
  }

  private func wheel(_ kind: MouseEvent.Kind, in model: inout Model, row: Int = 4) {
    let position = Position(row: row, column: 5)
    model.send(.key(.mouse(MouseEvent(kind: kind, position: position))))
  }

  @Test(
    "At any size each answer is clickable exactly where it is drawn",
    arguments: [(20, 8), (24, 7), (40, 12), (80, 24), (200, 60)]
  )
  func answers(width: Int, height: Int) throws {
    var model = Fixture.loaded(Size(width: width, height: height))
    model.type("c", "A title", .escape)
    var painter = Painter(model)
    painter.paint()
    let answers = [("[Cancel]", Answer.cancel), ("y Keep", .keep), ("n Discard", .discard)]
    for (text, answer) in answers {
      let start = try #require(painter.screen.position(of: text))
      for column in start.column..<start.column + text.count {
        let place = Position(row: start.row, column: column)
        #expect(painter.hits.hit(at: place)?.target == .answer(answer))
      }
    }
    let cells = painter.screen.bounds
    let hit = (0..<cells.height).flatMap { row in
      (0..<cells.width).map { Position(row: row, column: $0) }
    }
    .count { if case .answer? = painter.hits.hit(at: $0)?.target { true } else { false } }
    #expect(hit == answers.reduce(0) { $0 + $1.0.count })
  }

  @Test("A click takes a completion, and the wheel cycles through them")
  func completions() throws {
    var model = Fixture.loaded()
    model.type(":b")
    try click("bottom", in: &model)
    #expect(model.commandLine?.field.text == "bottom")
    let place = try #require(view(model).position(of: "bottom"))
    wheel(.wheelUp, in: &model, row: place.row)
    #expect(model.commandLine?.field.text != "bottom")
    #expect(model.feed.list.selection == "p12")
  }

  @Test("A click selects an inspector event, and a second one shows its details")
  func inspector() throws {
    var model = Fixture.loaded()
    model.type(.key(.function(12)))
    let events = [WireEvent.Kind.sent, .received].map {
      WireEvent(time: Fixture.now, kind: $0, title: "The \($0.rawValue) one", detail: "All of it")
    }
    model.send(.wire(events))
    try click("The sent one", in: &model)
    #expect(model.help == nil)
    try click("The sent one", in: &model)
    #expect(model.rows.contains { $0.contains("All of it") })
  }

  @Test("The wheel scrolls every list and text")
  func wheels() {
    let places: [(String, [Typed])] = [
      ("list", []), ("post", [.enter]), ("palette", [.control("p")]), ("help", ["?"]),
      ("settings", [.key(.function(2))]), ("form", ["c", .tab, .paste(Fixture.longBody)]),
      ("inspector", [.key(.function(12))]),
    ]
    for (name, keys) in places {
      var model = Fixture.loaded(Size(width: 60, height: 12))
      model.send(
        .wire((0..<40).map { WireEvent(time: 0, kind: .sent, title: "\($0)", detail: "") })
      )
      var posts = Fixture.numbered(1...40)
      posts[0].body = Fixture.longBody
      model.send(.blog(.feed(.recent, posts: posts)))
      for key in keys { model.type(key) }
      let before = view(model)
      for _ in 0..<2 { wheel(.wheelUp, in: &model) }
      let above = view(model)
      for _ in 0..<2 { wheel(.wheelDown, in: &model) }
      // At one end the wheel has only one direction.
      #expect(above != before || view(model) != before, "\(name)")
      for _ in 0..<30 { wheel(.wheelDown, in: &model) }
      let end = view(model)
      for _ in 0..<3 { wheel(.wheelUp, in: &model) }
      #expect(view(model) != end, "\(name)")
    }
  }

  @Test("In the sign-in form, clicks work on choices, fields and hints")
  func signIn() throws {
    var form = SignIn(["ann"])
    func click(_ text: String) throws -> [SignInEffect] {
      let place = try #require(form.view().position(of: text))
      return form.update(.key(.mouse(MouseEvent(kind: .press, position: place))))
    }
    #expect(form.list.selection == .account(uid: "ann"))
    let wheel = MouseEvent(kind: .wheelDown, position: Position(row: 3, column: 3))
    _ = form.update(.key(.mouse(wheel)))
    #expect(form.list.selection == .signIn)
    #expect(try click("Make an account") == [])
    #expect(form.form?.kind == .signUp)
    _ = try click("Email")
    form.type("ab")
    _ = try click("b\n")
    form.type("-")
    #expect(form.form?.text(.email) == "a-b")
    #expect(try click("back") == [])
    #expect(form.form == nil)
    #expect(try click("ann, ann") == [.use(uid: "ann")])
    // A user who waits for the server can leave, but do nothing else.
    #expect(form.update(.key(.mouse(wheel))) == [])
    #expect(form.list.selection == .account(uid: "ann"))
  }
}
