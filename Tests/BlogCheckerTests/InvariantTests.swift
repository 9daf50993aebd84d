import RealtimeCore
import TestSupport
import Testing

@testable import HearthLab

/// What `Histories` do not say, which have correct and wrong ones for each promise.
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
}
