import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import HearthLab

/// For each promise about faults, rules and time, a correct history that passes and wrong ones that
/// are caught.
@Suite("Invariants under faults")
struct FaultInvariantTests {
  // MARK: I9, G9

  @Test("I9 catches a star, an edit or a deletion in another user's name")
  func strangers() throws {
    try Sound.expect([.i9]) { run in
      let number = run.invoke("ann", .starAs(post: "-p2", uid: "bob"))
      run.commit(run.starring("bob", "-p2", true))
      run.answer("ann", number, .refused("permission_denied"))
    }
    let edit = try Sound.finished { run in
      let number = run.invoke("bob", .editOther(post: "-p1", title: "mine"))
      run.commit([
        ("posts/-p1/title", .string("mine")), ("user-posts/ann/-p1/title", .string("mine")),
      ])
      run.answer("bob", number, .refused("permission_denied"))
    }
    #expect(edit.violated.isSuperset(of: [.i9]))
    let loss = try Sound.finished { $0.commit($0.starring("ann", "-p1", false)) }
    #expect(loss.violated.isSuperset(of: [.i9]))
    let deletion = try Sound.finished { run in
      run.commit([("post-comments/-p1/-q1", .null)])
    }
    #expect(deletion.violated.isSuperset(of: [.i9]))
  }

  @Test("I9 allows refused attempts without effect and catches acknowledged ones")
  func attempts() throws {
    for (outcome, expected) in [
      (Outcome.refused("permission_denied"), []), (.ok(nil), [Promise.i9]),
    ] {
      try Sound.expect(Set(expected)) { run in
        let star = run.invoke("ann", .starAs(post: "-p2", uid: "bob"))
        run.answer("ann", star, outcome)
      }
    }
  }

  @Test("I9 attributes an administrator's writes to no other client")
  func administrator() throws {
    try Sound.expect([]) { run in
      let number = run.invoke("driver", .administer(paths: ["posts/-p3", "user-posts/cem"]))
      run.commit([
        ("posts/-p3", Scenario.post("cem", "x")), ("user-posts/cem/-p3", Scenario.post("cem", "x")),
      ])
      run.answer("driver", number)
    }
  }

  @Test("Refusals are expected only from rules that deny the attempts")
  func trespass() throws {
    for (rules, isRefused) in [
      (try PackageFiles.text("assets/rules/blog.json"), true),
      (try PackageFiles.text("assets/rules/quickstart.json"), false),
      (#"{"rules": {".read": true, ".write": true}}"#, false),
      (#"{"rules": {".read": true}}"#, true),
      ("no rules at all", true),
    ] {
      #expect(Trespass.isRefused(by: rules) == isRefused)
    }
  }

  @Test("G9 catches a commit that the rules allow for no user")
  func rules() throws {
    let rules = """
      {"rules": {".read": true, ".write": "auth.uid === 'ann' || auth.uid === 'bob'",
        "counters": {"x": {".validate": "newData.val() < 6"}}}}
      """
    #expect(try Sound.finished { $0.rules = [rules] }.violated == [])
    try Sound.expect([.g9]) { run in
      run.rules = [rules]
      run.increment("ann", "counters/x", by: 3)
    }
    try Sound.expect([]) { run in
      run.rules = [rules]
      run.note("driver", .rules(source: "{\"rules\": {\".write\": true}}"))
      run.increment("ann", "counters/x", by: 3)
    }
    try Sound.expect([.g9]) { run in
      run.rules = ["{\"rules\": {\".write\": true}}"]
    }
  }

  // MARK: I10

  private func presence(_ change: (inout Scenario) -> Void) throws -> Set<Promise> {
    try Sound.finished { run in
      run.options.absence = .seconds(5)
      run.add(.make("cem", presence: "cem/t"))
      run.commit([("presence/cem/t", .object(("name", .string("cem"))))])
      run.note("cem", .connection(isUp: true))
      change(&run)
    }.violated
  }

  @Test("I10 requires that killed clients leave the presence list and connected ones stay in it")
  func presence() throws {
    let kill = HistoryEvent.fault(name: "kill", target: "cem", isOver: false)
    #expect(try presence { _ in } == [])
    #expect(
      try presence { run in
        run.note("driver", kill)
        run.commit([("presence/cem/t", .null)])
        run.wait(.seconds(9))
      } == []
    )
    #expect(
      try presence { run in
        run.note("driver", kill)
        run.wait(.seconds(9))
      } == [.i10, .g8]
    )
    #expect(
      try presence { run in
        run.note("driver", kill)
        run.wait(.seconds(9))
        run.commit([("presence/cem/t", .null)])
      } == [.i10, .g8]
    )
    #expect(try presence { $0.commit([("presence/cem/t", .null)]) } == [.i10, .g8])
    #expect(try presence { $0.commit([("presence/cem/other", .bool(true))]) } == [.i10, .g8])
    #expect(
      try presence { run in
        for _ in 0..<3 {
          run.commit([("presence/cem/t", .null)])
          run.commit([("presence/cem/t", .bool(true))])
        }
      } == [.i10, .g8]
    )
    #expect(
      try presence { run in
        run.note("cem", .ended)
      } == [.i10, .g8]
    )
  }

  // MARK: I11, I12

  @Test("I11 catches an acknowledged write that is missing after the server was killed")
  func crashes() throws {
    try Sound.expect([.i11, .g1]) { run in
      let comment = run.invoke("bob", .comment(post: "-p1", comment: "-q9", text: "bob -q9"))
      run.answer("bob", comment)
      run.crash()
      run.commit([("post-comments/-p1/-q9", Scenario.comment("bob", "bob -q9"))])
    }
    let star = try Sound.finished { run in
      let number = run.invoke("bob", .star(post: "-p2"))
      run.answer("bob", number)
      run.crash()
      run.commit(run.starring("bob", "-p2", true))
    }
    // Bob, who listens, is still told that his star is missing.
    #expect(star.violated == [.i11, .g1, .g6])
  }

  @Test("I11 allows a write in flight at the crash to be present or absent")
  func underWay() throws {
    for isCommitted in [false, true] {
      try Sound.expect([]) { run in
        let number = run.invoke("bob", .star(post: "-p2"))
        if isCommitted { run.commit(run.starring("bob", "-p2", true)) }
        run.crash()
        if !isCommitted { run.commit(run.starring("bob", "-p2", true)) }
        run.answer("bob", number)
      }
    }
  }

  @Test("I12 catches a deleted item that returns and an acknowledged star that disappears")
  func twice() throws {
    try Sound.expect([.i3, .i12, .g3]) { run in
      let number = run.invoke("bob", .deleteComment(post: "-p1", comment: "-q2"))
      run.commit([("post-comments/-p1/-q2", .null)])
      run.answer("bob", number)
      run.commit([("post-comments/-p1/-q2", Scenario.comment("bob", "bob -q2"))])
    }
    let gone = try Sound.finished { run in
      run.star("bob", "-p2")
      let number = run.invoke("bob", .star(post: "-p2"))
      run.commit(run.starring("bob", "-p2", false))
      run.answer("bob", number)
    }
    #expect(gone.violated.isSuperset(of: [.i12, .g3]))
  }

  @Test("I12 catches a refused write that took effect and an acknowledged one that did not")
  func effects() throws {
    try Sound.expect([.i3, .i9, .i12, .g3]) { run in
      let number = run.invoke("bob", .comment(post: "-p1", comment: "-q9", text: "bob -q9"))
      run.commit([("post-comments/-p1/-q9", Scenario.comment("bob", "bob -q9"))])
      run.answer("bob", number, .refused("permission_denied"))
    }
    try Sound.expect([.i12, .g3]) { run in
      let number = run.invoke("bob", .post(post: "-r9", title: "bob -r9", body: ""))
      run.answer("bob", number)
    }
  }

  @Test("I12 allows a star of unknown outcome to be present or absent, even after a later one")
  func unknownStars() throws {
    for (isCommitted, then) in [(true, nil), (false, nil), (false, true), (true, true)] {
      try Sound.expect([]) { run in
        _ = run.invoke("bob", .star(post: "-p2"))
        if isCommitted { run.commit(run.starring("bob", "-p2", true)) }
        if then == true {
          run.star("bob", "-p2", false)
          // The operation of unknown outcome may even take effect last.
          run.commit(run.starring("bob", "-p2", true))
        }
      }
    }
  }

  // MARK: I13, I14, G10

  @Test("I13 catches unescaped control characters", arguments: ["\u{202E}", "\u{1B}", "\u{9B}"])
  func steering(character: String) throws {
    func run(_ text: String) throws -> Set<Promise> {
      try Sound.finished { run in
        run.note(
          "driver",
          .screen(CapturedScreen(terminal: "t", group: "g", lines: ["Posts", "ann: \(text)"]))
        )
      }.violated
    }
    #expect(try run("⟨RLO⟩日本") == [])
    #expect(try run("\(character)ello") == [.i13])
  }

  @Test("I14 catches a server that exceeds its memory, descriptor or latency limit")
  func bounds() throws {
    func run(_ bytes: Int64, _ descriptors: Int64, _ p99: Int64) throws -> Set<Promise> {
      try Sound.finished { run in
        run.options.residentBytes = 100
        run.options.descriptors = 10
        run.options.p99 = .milliseconds(1)
        run.note(
          "driver",
          .sample(residentBytes: bytes, descriptors: descriptors, p99Microseconds: p99)
        )
      }.violated
    }
    #expect(try run(100, 10, 1_000) == [])
    #expect(try run(101, 10, 1_000) == [.i14])
    #expect(try run(100, 11, 1_000) == [.i14])
    #expect(try run(100, 10, 1_001) == [.i14])
  }

  @Test("G10 catches a server that exits by itself or is down at the end")
  func alive() throws {
    for (changes, expected) in [
      ([HistoryEvent.ServerChange.killed, .up], []), ([.died, .up], [Promise.g10]),
      ([.killed], [.g10]),
    ] {
      try Sound.expect(Set(expected)) { run in
        for change in changes { run.note("driver", .server(change)) }
      }
    }
  }

  // MARK: G2

  @Test("G2 catches a missing commit and final data that differs from the commits")
  func missing() throws {
    try Sound.expect([.g2]) { run in
      run.commit([("counters/y", .integer(1))])
      run.commit([("counters/y", .integer(2))])
      run.dropCommit(beforeLast: 1)
    }
    var run = Sound.run()
    run.finalRoot = run.root
    run.commit([("counters/y", .integer(1))])
    #expect(try run.violated() == [.g2])
  }

  @Test("G2 counts commits that the observer missed as gaps, not as violations")
  func jumps() throws {
    let report = try Sound.finished { run in
      run.comment("ann", "-q8", on: "-p1")
      run.jump(instead: 1)
    }
    #expect(report.violated == [])
    #expect(report.activity.gaps == 1)
  }

  @Test("G2 catches an operation with a lower revision than one acknowledged before it began")
  func realTime() throws {
    try Sound.expect([.g2]) { run in
      let first = run.invoke("ann", .comment(post: "-p1", comment: "-r1", text: "1"))
      run.answer("ann", first)
      let second = run.invoke("bob", .comment(post: "-p1", comment: "-r2", text: "2"))
      run.commit([("post-comments/-p1/-r2", Scenario.comment("bob", "2"))])
      run.commit([("post-comments/-p1/-r1", Scenario.comment("ann", "1"))])
      run.answer("bob", second)
    }
  }

  @Test("G2 catches a transaction, increment or read that returns a value that never existed")
  func results() throws {
    try Sound.expect([.g2]) { run in
      let number = run.invoke("bob", .star(post: "-p2"))
      run.commit(run.starring("bob", "-p2", true))
      run.answer("bob", number, .ok(.integer(7)))
    }
    try Sound.expect([.g2]) { run in
      let number = run.invoke("bob", .increment(path: "counters/x", amount: 1))
      run.commit([("counters/x", .integer(6))])
      run.answer("bob", number, .ok(.integer(8)))
    }
    // Bob had made it 5 himself.
    for (value, expected) in [(5, []), (2, [Promise.g2, .g6])] {
      try Sound.expect(Set(expected)) { run in
        run.wait(.seconds(1))
        let number = run.invoke("bob", .read(path: "counters/x"))
        run.answer("bob", number, .ok(.integer(Int64(value))))
      }
    }
  }
}
