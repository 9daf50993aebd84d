import RealtimeCore
import Testing

@testable import HearthLab

/// For each promise, a correct history that passes and wrong ones that are caught.
@Suite("Invariants")
struct InvariantTests {
  @Test("A correct history satisfies every invariant, and each is checked")
  func right() throws {
    let report = try Sound.finished { run in
      run.crash()
      run.note("driver", .server(.killed))
      run.note("driver", .server(.up))
      run.note("driver", .sample(residentBytes: 1, descriptors: 1, p99Microseconds: 1))
      run.note("driver", .screen(CapturedScreen(terminal: "t", group: "g", lines: ["x"])))
      run.add(.make("cem", presence: "cem/t"))
      run.commit([("presence/cem/t", .object(("name", .string("cem"))))])
      run.note("cem", .connection(isUp: true))
      run.rules = ["{\"rules\": {\".read\": true, \".write\": \"auth != null\"}}"]
    }
    #expect(report.lines.flatMap(\.violations) == [])
    #expect(report.verdict == .held)
    #expect(report.activity.comments == 3)
    for line in report.lines { #expect(line.checked > 0, "\(line.name) \(line.statement)") }
    #expect(Set(report.lines.flatMap(\.promises)) == Set(Promise.allCases))
  }

  @Test("A history below the required amounts does not pass")
  func tooLittle() throws {
    var run = Scenario("ann")
    run.post("ann", "-p1")
    run.options.least.comments = 1
    run.options.least.commits = 2
    #expect(
      try run.check().verdict
        == .tooLittle(["1 commits of at least 2", "0 acknowledged comments of at least 1"])
    )
  }

  @Test("A history that never exercises a required promise does not pass")
  func unchecked() throws {
    var run = Scenario("ann")
    run.post("ann", "-p1")
    run.options.least.promises = [.i2, .i5]
    let report = try run.check()
    #expect(report.verdict == .tooLittle(["I5 was never checked"]))
    #expect(report.unchecked.map(\.name).contains("I5"))
    #expect(!report.unchecked.map(\.name).contains("I2"))
    run.options.least.promises = [.i2]
    #expect(try run.check().verdict == .held)
  }

  // MARK: I1, I2, G4

  @Test("I1 catches a count that differs from the stars, even for a single commit")
  func counts() throws {
    let report = try Sound.finished { run in
      run.commit([
        ("posts/-p1/starCount", .integer(5)), ("user-posts/ann/-p1/starCount", .integer(5)),
      ])
      run.commit([
        ("posts/-p1/starCount", .integer(1)), ("user-posts/ann/-p1/starCount", .integer(1)),
      ])
    }
    #expect(report.violated == [.i1])
    #expect(report.lines.first?.violationCount == 2)
    let evidence = report.lines.first?.violations.first?.description ?? ""
    #expect(evidence.hasPrefix("revision 11: /posts/-p1 says starCount 5, but has 1 star"))
  }

  @Test("I1 catches a client that shows a count that differs from the stars")
  func shownCounts() throws {
    let report = try Sound.finished { run in
      run.show("ann", .post("-p9", starCount: 2, stars: 1, isMine: false, version: "hash"))
    }
    #expect(report.violated.contains(.i1))
  }

  @Test("I2 and G4 catch a post and its copy changed by separate commits")
  func halves() throws {
    try Sound.expect([.i2, .g4]) { run in
      let edit = run.invoke("ann", .editPost(post: "-p1", title: "new", body: "body"))
      run.commit([("posts/-p1/title", .string("new"))])
      run.commit([("user-posts/ann/-p1/title", .string("new"))])
      run.answer("ann", edit)
    }
  }

  @Test("I2 catches a copy that is stale, missing or orphaned")
  func copies() throws {
    for change in [
      ("user-posts/ann/-p1/body", JSONValue.string("other")), ("user-posts/ann/-p1", .null),
      ("user-posts/bob/-p1", Scenario.post("bob", "x")),
    ] {
      #expect(try Sound.finished { $0.commit([change]) }.violated.isSuperset(of: [.i2]))
    }
  }

  @Test("I2 allows a star to reach the copy later with transactions, but not with one update")
  func following() throws {
    func run(_ strategy: HistoryHeader.Strategy) throws -> Set<Promise> {
      try Sound.finished(strategy) { run in
        let number = run.invoke("ann", .star(post: "-p2"))
        let changes = run.starring("ann", "-p2", true)
        run.commit(Array(changes.prefix(2)))
        run.commit(Array(changes.suffix(2)))
        run.answer("ann", number)
      }.violated
    }
    #expect(try run(.transaction) == [])
    #expect(try run(.increment) == [.i2, .g4])
  }

  @Test("I2 catches a star that has not reached the copy by the end")
  func lostCopy() throws {
    try Sound.expect([.i2], .sample) { run in
      let number = run.invoke("ann", .star(post: "-p2"))
      run.commit(Array(run.starring("ann", "-p2", true).prefix(2)))
      run.answer("ann", number)
    }
  }

  @Test("G4 catches a post deleted without its comments")
  func orphans() throws {
    try Sound.expect([.g4]) { run in
      let number = run.invoke("ann", .deletePost(post: "-p1"))
      run.commit([("posts/-p1", .null), ("user-posts/ann/-p1", .null)])
      run.commit([("post-comments/-p1", .null)])
      run.answer("ann", number)
    }
  }

  // MARK: I3, I4, I5

  @Test("I3 catches a comment that is lost, duplicated, altered or never sent")
  func comments() throws {
    try Sound.expect([.i3, .i12, .g3]) { run in
      let number = run.invoke("bob", .comment(post: "-p1", comment: "-q9", text: "bob -q9"))
      run.answer("bob", number)
    }
    let doubled = try Sound.finished { run in
      run.commit([("post-comments/-p1/-q5", Scenario.comment("ann", "ann -q1"))])
    }
    #expect(doubled.violated.isSuperset(of: [.i3, .i9]))
    let changed = try Sound.finished { run in
      run.commit([("post-comments/-p1/-q1/text", .string("other"))])
    }
    #expect(changed.violated.isSuperset(of: [.i3, .i9]))
    let phantom = try Sound.finished { run in
      run.commit([("post-comments/-p1/-q5", Scenario.comment("bob", "never sent"))])
    }
    #expect(phantom.violated.isSuperset(of: [.i3, .i9]))
  }

  @Test("I3 allows a comment of unknown outcome to be present or absent")
  func unknownComments() throws {
    for isThere in [false, true] {
      try Sound.expect([]) { run in
        _ = run.invoke("bob", .comment(post: "-p1", comment: "-q9", text: "bob -q9"))
        if isThere {
          run.commit([("post-comments/-p1/-q9", Scenario.comment("bob", "bob -q9"))])
        }
      }
    }
  }

  @Test("I4 catches comments committed out of order and descending keys")
  func order() throws {
    try Sound.expect([.i4]) { run in
      let first = run.invoke("ann", .comment(post: "-p1", comment: "-r1", text: "1"))
      let second = run.invoke("ann", .comment(post: "-p1", comment: "-r2", text: "2"))
      run.commit([("post-comments/-p1/-r2", Scenario.comment("ann", "2"))])
      run.commit([("post-comments/-p1/-r1", Scenario.comment("ann", "1"))])
      run.answer("ann", first)
      run.answer("ann", second)
    }
    try Sound.expect([.i4]) { $0.comment("ann", "-a0", on: "-p1") }
    try Sound.expect([]) { run in
      run.note("driver", .fault(name: "clock", target: "ann", isOver: false))
      run.comment("ann", "-a0", on: "-p1")
    }
  }

  @Test("I5 catches a counter that lost an increment or counted one twice")
  func counters() throws {
    for wrong in [4, 7] {
      let report = try Sound.finished { run in
        run.commit([("counters/x", .integer(Int64(wrong)))])
      }
      #expect(report.violated.isSuperset(of: [.i5]))
    }
    for right in [5, 9] {
      try Sound.expect([]) { run in
        _ = run.invoke("bob", .increment(path: "counters/x", amount: 4))
        if right == 9 { run.commit([("counters/x", .integer(9))]) }
      }
    }
  }

  // MARK: I6, I7, I8, G5, G6

  @Test("I6 catches a view that differs from the database")
  func views() throws {
    try Sound.expect([.i6, .g7]) { run in
      run.note("bob", .finalView(FinalView(view: "top", path: "/posts", digest: "other")))
    }
  }

  @Test("I6 catches screens that differ from each other or show a wrong star count")
  func screens() throws {
    func screen(_ terminal: String, _ line: String, _ stars: Int) -> HistoryEvent {
      .screen(
        CapturedScreen(
          terminal: terminal,
          group: "list",
          lines: [line],
          rows: [CapturedScreen.Row(title: "ann -p1", stars: stars)]
        )
      )
    }
    for (second, expected) in [
      (screen("t2", "ann -p1 1", 1), []), (screen("t2", "ann -p1", 1), [Promise.i6, .g7]),
      (screen("t2", "ann -p1 1", 2), [.i6, .g7]),
    ] {
      try Sound.expect(Set(expected)) { run in
        run.note("driver", screen("t1", "ann -p1 1", 1))
        run.note("driver", second)
      }
    }
  }

  @Test("I7 catches a user's own star that is not shown or flickers")
  func echo() throws {
    func run(_ shown: [Bool], after seconds: Int) throws -> Set<Promise> {
      try Sound.finished { run in
        run.show("ann", post: "-p2")
        let number = run.invoke("ann", .star(post: "-p2"))
        run.wait(.seconds(seconds))
        for isMine in shown {
          let stars = isMine ? 1 : 0
          run.show(
            "ann",
            .post("-p2", starCount: stars, stars: stars, isMine: isMine, version: nil)
          )
        }
        run.commit(run.starring("ann", "-p2", true))
        run.answer("ann", number)
      }.violated
    }
    #expect(try run([true], after: 0) == [])
    #expect(try run([false, true], after: 0) == [])
    #expect(try run([true, false], after: 0) == [.i7])
    #expect(try run([false], after: 5) == [.i7])
  }

  @Test("I7 allows a refused star to disappear")
  func refusedStar() throws {
    try Sound.expect([]) { run in
      let number = run.invoke("ann", .star(post: "-p2"))
      run.show("ann", .post("-p2", starCount: 1, stars: 1, isMine: true, version: nil))
      run.answer("ann", number, .refused("permission_denied"))
      run.show("ann", post: "-p2")
    }
  }

  @Test("I7 allows either state while an earlier change by the user is unresolved")
  func unsettledStar() throws {
    try Sound.expect([]) { run in
      _ = run.invoke("ann", .star(post: "-p2"))
      let number = run.invoke("ann", .unstar(post: "-p2"))
      for stars in [0, 1, 0] {
        let isMine = stars == 1
        run.show(
          "ann",
          .post("-p2", starCount: stars, stars: stars, isMine: isMine, version: nil)
        )
      }
      run.commit(run.starring("ann", "-p2", true))
      run.commit(run.starring("ann", "-p2", false))
      run.answer("ann", number)
    }
  }

  @Test("I8 catches an older state shown after a newer one")
  func older() throws {
    try Sound.expect([.i8]) { run in
      run.show("bob", post: "-p1")
      run.show("bob", .post("-p1", starCount: 0, stars: 0, isMine: false, version: nil))
    }
  }

  @Test("G5 catches a state that was never committed and a skipped event")
  func events() throws {
    try Sound.expect([.g5]) { run in
      run.show("bob", .post("-p1", starCount: 9, stars: 9, isMine: false, version: nil))
    }
    try Sound.expect([.g5]) { run in
      run.note(
        "bob",
        .shown(Showing(view: "recent", order: 99, content: .postGone("-p7")))
      )
    }
  }

  @Test("G6 catches the disappearance of a user's own comment or of one already shown")
  func forgotten() throws {
    for keys in [["-q1", "-q2"], ["-q1", "-q3"]] {
      try Sound.expect([.g6]) { run in
        run.wait(.seconds(9))
        run.show("ann", .comments(post: "-p1", keys: keys), view: "comments/-p1")
      }
    }
    try Sound.expect([]) { run in
      run.wait(.seconds(9))
      let number = run.invoke("bob", .deleteComment(post: "-p1", comment: "-q2"))
      run.commit([("post-comments/-p1/-q2", .null)])
      run.answer("bob", number)
      run.show("ann", commentsOn: "-p1")
    }
  }
}
