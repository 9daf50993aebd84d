import RealtimeCore
import Testing

@testable import HearthLab

@Suite("Check report")
struct ReportTests {
  @Test("lists every promise with its number of checks and the first evidence")
  func table() throws {
    let report = try Sound.finished { run in
      run.commit([
        ("posts/-p1/starCount", .integer(9)), ("user-posts/ann/-p1/starCount", .integer(9)),
      ])
    }
    let lines = report.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.first?.hasPrefix("promise  what it says") == true)
    #expect(lines.contains { $0.hasPrefix("I6/G7 ") })
    #expect(
      lines.contains("  revision 11: /posts/-p1 says starCount 9, but has 1 star")
        || report.text.contains("/posts/-p1 says starCount 9, but has 1 star")
    )
    #expect(lines.last == "violations: 2")
  }

  @Test("contains the same verdict, counts and evidence as JSON")
  func json() throws {
    let json = try Sound.finished().json
    #expect(json["verdict"] == .string("held"))
    #expect(json["violations"] == .integer(0))
    #expect(json["promises"]?.elements?.count == 24)
    #expect(json["activity"]?["comments"] == .integer(3))
    let wrong = try Sound.finished { run in
      run.note("driver", .server(.died))
      run.note("driver", .server(.up))
    }.json
    let line = wrong["promises"]?.elements?.first { $0["name"] == .string("G10") }
    #expect(line?["violations"] == .integer(1))
    #expect(
      line?["first"]?.elements?.first?["problem"]
        == .string("the server stopped though nobody asked it to")
    )
  }
}
